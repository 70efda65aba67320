/** Light or dark: what a person chose, or what their system prefers. */

import { stored, store } from "./storage";

export type Theme = "light" | "dark";

class ThemeState {
  chosen = $state<Theme | null>(stored<Theme | null>("theme", null, (value) => value === "light" || value === "dark"));

  choose(theme: Theme | null): void {
    this.chosen = theme;
    store("theme", theme);
  }
}

export const theme = new ThemeState();
