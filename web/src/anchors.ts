/** Where in its file a passage stands, in words. */

import type { Anchor } from "./api/types";
import { t } from "./state/language.svelte";

/** For instance "Page 3", "Lines 12–18", "Sheet Prices, rows 4–9". */
export function anchorName(anchor: Anchor): string {
  const range = anchor.last > anchor.first ? `${anchor.first}–${anchor.last}` : String(anchor.first);
  const values = { range, name: anchor.name ?? "", n: anchor.last > anchor.first ? 2 : 1 };
  const key = `anchor.${anchor.kind}`;
  return t(anchor.name ? `${key}.named` : key, values);
}
