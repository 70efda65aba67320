/** A passage as pieces that are shown each in its way: rows of a table, program text, headings, and words. */

const RULE = /^:?-+:?$/;
const FENCE = /^\s{0,3}(```|~~~)/;
const HEADING = /^(#{1,6})\s+(.+)$/;

export type Piece =
  | { kind: "words" | "code" | "heading"; text: string }
  /** `header` are the rows that name the columns, `first` the number of the first row of `body` among the lines. */
  | { kind: "table"; header: string[][]; body: string[][]; first: number };

/** The cells of `| a | b |`; null for a line that is no row. */
export function cellsOf(line: string): string[] | null {
  const stripped = line.trim();
  if (stripped.length < 2 || !stripped.startsWith("|") || !stripped.endsWith("|")) {
    return null;
  }
  return stripped
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function isRule(cells: string[]): boolean {
  return cells.every((cell) => RULE.test(cell));
}

/**
 * The pieces of a passage. Its `context` holds the header of a table that the passage begins within; `marks` says
 * whether lines may be headings and program text as Markdown writes them.
 */
export function piecesOf(text: string, context: string, marks: boolean): Piece[] {
  const lines = text.split("\n");
  const pieces: Piece[] = [];
  let at = 0;
  while (at < lines.length) {
    const start = at;
    const line = lines[at] as string;
    if (cellsOf(line) !== null) {
      while (at < lines.length && cellsOf(lines[at] as string) !== null) {
        at += 1;
      }
      pieces.push(table(lines.slice(start, at), pieces.length === 0 ? context : "", start));
    } else if (marks && FENCE.test(line)) {
      const fence = FENCE.exec(line)?.[1] as string;
      at += 1;
      while (at < lines.length && !(lines[at] as string).trim().startsWith(fence)) {
        at += 1;
      }
      pieces.push({ kind: "code", text: lines.slice(start + 1, at).join("\n") });
      at += 1;
    } else if (marks && HEADING.test(line)) {
      pieces.push({ kind: "heading", text: HEADING.exec(line)?.[2] as string });
      at += 1;
    } else {
      while (at < lines.length && !begins(lines[at] as string, marks)) {
        at += 1;
      }
      const words = lines.slice(start, at).join("\n").replace(/^\n+|\n+$/g, "");
      if (words !== "") {
        pieces.push({ kind: "words", text: words });
      }
    }
  }
  return pieces;
}

function begins(line: string, marks: boolean): boolean {
  return cellsOf(line) !== null || (marks && (FENCE.test(line) || HEADING.test(line)));
}

function table(lines: string[], context: string, first: number): Piece {
  const rows = lines.map((line) => cellsOf(line) as string[]);
  const above = context.split("\n").flatMap((line) => {
    const cells = cellsOf(line);
    return cells === null || isRule(cells) ? [] : [cells];
  });
  const rule = rows.findIndex(isRule);
  const header = rule > 0 ? rows.slice(0, rule) : above;
  return { kind: "table", header, body: rule >= 0 ? rows.slice(rule + 1) : rows, first: rule > 0 ? first + rule + 1 : first };
}
