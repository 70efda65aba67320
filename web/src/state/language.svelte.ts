/** The language of the page: what a person chose, or what their browser asks for. */

import { stored, store } from "./storage";

export type Language = "en" | "zh";

type Messages = Record<string, string>;

function joined(files: Record<string, Messages>): Messages {
  return Object.assign({}, ...Object.values(files)) as Messages;
}

const MESSAGES: Record<Language, Messages> = {
  en: joined(import.meta.glob<Messages>("../messages/en/*.json", { eager: true, import: "default" })),
  zh: joined(import.meta.glob<Messages>("../messages/zh/*.json", { eager: true, import: "default" })),
};
const TAGS: Record<Language, string> = { en: "en", zh: "zh-CN" };
const PLACE = /\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g;

function ofBrowser(): Language {
  const wanted = navigator.languages.map((tag) => tag.toLowerCase());
  return wanted.find((tag) => tag.startsWith("zh") || tag.startsWith("en"))?.startsWith("zh") ? "zh" : "en";
}

class LanguageState {
  /** What was chosen; null follows the browser. */
  chosen = $state<Language | null>(stored<Language | null>("language", null, (value) => value === "en" || value === "zh"));
  current = $derived<Language>(this.chosen ?? ofBrowser());
  /** As HTML and HTTP name it. */
  tag = $derived(TAGS[this.current]);

  choose(language: Language | null): void {
    this.chosen = language;
    store("language", language);
  }

  /**
   * The message `key` with its places filled in: `{name}` is a value, `{n:file|files}` the first word where `n` is 1.
   * A number is written as the language writes it.
   */
  t(key: string, values: Record<string, string | number> = {}): string {
    const message = MESSAGES[this.current][key];
    if (message === undefined) {
      return key;
    }
    return message.replace(PLACE, (whole, name: string, one?: string, other?: string) => {
      const value = values[name];
      if (value === undefined) {
        return whole;
      }
      if (one !== undefined) {
        return Number(value) === 1 ? one : (other ?? "");
      }
      return typeof value === "number" ? this.number(value) : value;
    });
  }

  has(key: string): boolean {
    return MESSAGES[this.current][key] !== undefined;
  }

  number(value: number): string {
    return new Intl.NumberFormat(this.tag).format(value);
  }

  /** A time in milliseconds since 1970 as a day, with the hour where it was today or yesterday. */
  time(milliseconds: number): string {
    const then = new Date(milliseconds);
    const isRecent = Date.now() - milliseconds < 36 * 3600_000;
    return new Intl.DateTimeFormat(
      this.tag,
      isRecent ? { dateStyle: "medium", timeStyle: "short" } : { dateStyle: "medium" },
    ).format(then);
  }

  /** How long ago a time was, in the largest unit that fits. */
  ago(milliseconds: number): string {
    const seconds = Math.max(0, (Date.now() - milliseconds) / 1000);
    const steps: [Intl.RelativeTimeFormatUnit, number][] = [
      ["day", 86_400],
      ["hour", 3600],
      ["minute", 60],
    ];
    const [unit, length] = steps.find(([, size]) => seconds >= size) ?? (["second", 1] as const);
    if (unit === "second" || (unit === "day" && seconds > 30 * 86_400)) {
      return unit === "second" ? this.t("shell.just-now") : this.time(milliseconds);
    }
    return new Intl.RelativeTimeFormat(this.tag, { numeric: "auto" }).format(-Math.floor(seconds / length), unit);
  }

  size(bytes: number): string {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
    const step = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
    return new Intl.NumberFormat(this.tag, {
      style: "unit",
      unit: units[step] as string,
      unitDisplay: step === 0 ? "long" : "short",
      maximumFractionDigits: step < 2 ? 0 : 1,
    }).format(bytes / 1000 ** step);
  }

  /** How long something takes, roughly. */
  duration(seconds: number): string {
    const [unit, value] =
      seconds < 90 ? ["second", seconds] : seconds < 5400 ? ["minute", seconds / 60] : ["hour", seconds / 3600];
    return new Intl.NumberFormat(this.tag, {
      style: "unit",
      unit: unit as string,
      unitDisplay: "long",
      maximumFractionDigits: 0,
    }).format(Math.max(1, Math.ceil(value as number)));
  }
}

export const language = new LanguageState();
export const t = (key: string, values?: Record<string, string | number>): string => language.t(key, values);
