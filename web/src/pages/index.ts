/** Which page stands at which place. A page is loaded when it is first gone to. */

import type { Component } from "svelte";

export type Section = "library" | "chat" | "search" | "evaluation" | "operations" | "settings";

interface Page {
  /** The page is made anew whenever this changes, and only then: parts beyond it are the page's own. */
  key: string;
  /** Which entry of the navigation it belongs to. */
  section: Section;
  /** The message that names it. */
  title: string;
  load: () => Promise<{ default: Component }>;
}

export function place(parts: string[]): Page {
  const [first = "", second = "", third = ""] = parts;
  switch (first) {
    case "kb":
      return third === "settings"
        ? page(`kb/${second}/settings`, "library", "shell.library", () => import("./KnowledgeBaseSettings.svelte"))
        : page(`kb/${second}`, "library", "shell.library", () => import("./Documents.svelte"));
    case "read":
      return page(`read/${second}`, "library", "shell.reader", () => import("./Reader.svelte"));
    case "documents":
      return page(`documents/${second}`, "library", "shell.reader", () => import("./Reader.svelte"));
    case "chat":
      return page("chat", "chat", "shell.chat", () => import("./Chat.svelte"));
    case "search":
      return page("search", "search", "shell.search", () => import("./Search.svelte"));
    case "evaluation":
      return page("evaluation", "evaluation", "shell.evaluation", () => import("./Evaluation.svelte"));
    case "operations":
      return page("operations", "operations", "shell.operations", () => import("./Operations.svelte"));
    case "settings":
      return page("settings", "settings", "shell.settings", () => import("./Settings.svelte"));
    case "":
      return page("home", "library", "shell.library", () => import("./Home.svelte"));
    default:
      return page("nowhere", "library", "shell.nowhere", () => import("./Nowhere.svelte"));
  }
}

function page(key: string, section: Section, title: string, load: Page["load"]): Page {
  return { key, section, title, load };
}
