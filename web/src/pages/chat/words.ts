/** What answers are like, in words. */

import { language, t } from "../../state/language.svelte";
import type { AnswerDetails, Support, Unread } from "./types";

/** Why a sentence is marked, and what stands in none of what it cites. */
export function supportSentence(support: Support): string {
  const uncited = support.numbers.length === 0 ? ".uncited" : "";
  const said = t(`chat.support.${support.support}${uncited}`, { numbers: list(support.numbers.map((one) => `[${one}]`)) });
  return support.missing.length > 0 ? `${said} ${t("chat.support.missing", { what: list(support.missing) })}` : said;
}

/** A name such as `embed: provider-timeout` as a sentence; what is unknown is shown as it is. */
export function degradedSentence(name: string): string {
  const [what = "", why = ""] = name.split(": ", 2);
  const key = `chat.degraded.${what}`;
  return language.has(key) ? t(key, { why: why || what }) : t("chat.degraded.other", { name });
}

export function unreadSentence(one: Unread): string {
  const [what = "", reason = ""] = one.why.split(": ", 2);
  const key = `chat.unread.${what}`;
  return language.has(key) ? t(key, { reason }) : t("chat.unread.other", { why: one.why });
}

/** Whether a sentence says anything that its sources must hold: what cites nothing and names no fact may be a courtesy. */
export function isClaim(one: Support): boolean {
  return one.numbers.length > 0 || one.missing.length > 0;
}

/** How many of the sentences that claim something are supported; null where there is none. */
export function supportCounts(details: AnswerDetails): { supported: number; all: number } | null {
  const claims = details.support.filter(isClaim);
  const supported = claims.filter((one) => one.support === "supported").length;
  return claims.length === 0 ? null : { supported, all: claims.length };
}

export function list(names: string[]): string {
  return new Intl.ListFormat(language.tag, { type: "conjunction", style: "short" }).format(names);
}
