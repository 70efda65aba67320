import { mount } from "svelte";

import "./app.css";
import App from "./App.svelte";
import { language } from "./state/language.svelte";
import { theme } from "./state/theme.svelte";

const dark = matchMedia("(prefers-color-scheme: dark)");

function dress(): void {
  document.documentElement.lang = language.tag;
  document.documentElement.dataset.theme = theme.chosen ?? (dark.matches ? "dark" : "light");
}

dress();
dark.addEventListener("change", dress);
$effect.root(() => {
  $effect(dress);
});

mount(App, { target: document.getElementById("page") as HTMLElement });
