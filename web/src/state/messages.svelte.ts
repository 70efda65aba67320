/** Short messages about what was just done, which go by themselves; problems stay until they are closed. */

import { ApiError } from "../api/client";
import { t } from "./language.svelte";

export interface Message {
  id: number;
  kind: "done" | "problem";
  text: string;
  hint: string;
}

const SHOWN_MS = 5000;

class MessagesState {
  shown = $state<Message[]>([]);
  private next = 1;

  done(text: string): void {
    const { id } = this.add("done", text, "");
    setTimeout(() => this.close(id), SHOWN_MS);
  }

  /** Say what went wrong. A request that was stopped on purpose is nothing to speak of. */
  problem(error: unknown): void {
    if (error instanceof DOMException && error.name === "AbortError") {
      return;
    }
    if (error instanceof ApiError) {
      this.add("problem", error.message, error.hint);
    } else {
      this.add("problem", t("shell.page-failed"), String(error));
    }
  }

  close(id: number): void {
    this.shown = this.shown.filter((message) => message.id !== id);
  }

  private add(kind: Message["kind"], text: string, hint: string): Message {
    const message = { id: this.next++, kind, text, hint };
    this.shown = [...this.shown.slice(-3), message];
    return message;
  }
}

export const messages = new MessagesState();

/** Do something, and say what went wrong with it; whether it went well. */
export async function attempt(deed: () => Promise<unknown>, done = ""): Promise<boolean> {
  try {
    await deed();
  } catch (error) {
    messages.problem(error);
    return false;
  }
  if (done) {
    messages.done(done);
  }
  return true;
}
