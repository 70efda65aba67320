/** Figures of runs, as they are shown. */

import { language, t } from "../../state/language.svelte";

/** In the order in which they are shown; `ndcg@10` is called after the part before the @. */
const ORDER = ["ndcg", "recall", "mrr", "hit", "precision"];

export function measuresOf(measures: Record<string, number>): string[] {
  return Object.keys(measures).sort((one, other) => rank(one) - rank(other));
}

function rank(measure: string): number {
  const at = ORDER.indexOf(measure.split("@")[0] ?? "");
  return at < 0 ? ORDER.length : at;
}

export function measureName(measure: string): string {
  const [kind = "", cutoff = ""] = measure.split("@");
  const key = `evaluation.measure.${kind}`;
  return `${language.has(key) ? t(key) : kind}${cutoff ? ` @${cutoff}` : ""}`;
}

export function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : value.toFixed(3);
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? "–" : `${language.number(Math.round((1000 * part) / whole) / 10)} %`;
}
