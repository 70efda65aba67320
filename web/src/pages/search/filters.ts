/** Filters as they are typed on the command line too, one a line: `author=Wang,Li`, `year=2020..2024`, `path=notes/*`. */

import { ApiError } from "../../api/client";
import { t } from "../../state/language.svelte";

const RANGE = /^([-+0-9./:年月日TZ]*?)\.\.([-+0-9./:年月日TZ]*)$/;

/** What a search is asked for; null where nothing is typed. Throws `ApiError` for a line that is no filter. */
export function filtersOf(typed: string): Record<string, unknown> | null {
  const asked: Record<string, unknown[]> = Object.create(null) as Record<string, unknown[]>;
  for (const line of typed.split("\n").map((one) => one.trim()).filter(Boolean)) {
    const at = line.indexOf("=");
    if (at < 1) {
      throw new ApiError(0, "invalid-filter", t("search.filters.invalid", { line }), t("search.filters.hint"));
    }
    const field = line.slice(0, at).trim();
    asked[field] = [...(asked[field] ?? []), wanted(line.slice(at + 1).trim())];
  }
  const fields = Object.entries(asked).map(([field, parts]) => [field, parts.length === 1 ? parts[0] : { all: parts }]);
  return fields.length === 0 ? null : (Object.fromEntries(fields) as Record<string, unknown>);
}

function wanted(text: string): unknown {
  const range = RANGE.exec(text);
  if (range !== null) {
    const bounds = { from: range[1], to: range[2] };
    return Object.fromEntries(Object.entries(bounds).filter(([, bound]) => bound));
  }
  const items = text.split(/[,，]/).map((item) => item.trim()).map((item) =>
    item.length > 1 && item.endsWith("*") ? { prefix: item.slice(0, -1) } : item,
  );
  return items.length === 1 ? items[0] : items;
}
