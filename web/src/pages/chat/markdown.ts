/**
 * The little Markdown that answers are written in, as values: paragraphs, headings, lists, tables, code and bold words.
 *
 * Anything else stays as it is written. There are no links and no pictures, so that nothing in a document can make the
 * page fetch or open something. Every part knows where in the text it stands (offsets in UTF-16 units).
 */

export interface Part {
  kind: "text" | "code" | "citation";
  start: number;
  end: number;
  isStrong: boolean;
  /** Of a citation. */
  number: number;
  /** Index of the sentence it belongs to, and whether that ends here; -1 where none is known. */
  sentence: number;
  endsSentence: boolean;
}

export interface Item {
  parts: Part[];
  inner: List[];
}

export interface List {
  kind: "list";
  isOrdered: boolean;
  first: number;
  items: Item[];
}

export type Block =
  | { kind: "paragraph" | "quote"; parts: Part[] }
  | { kind: "heading"; level: number; parts: Part[] }
  | { kind: "code"; start: number; end: number }
  | { kind: "table"; head: Part[][]; rows: Part[][][] }
  | List;

interface Line {
  start: number;
  end: number;
  text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(?=\S)/;
const ITEM = /^([ \t]*)(?:([-*+•])|(\d{1,9})[.)、])[ \t]+(?=\S)/;
const QUOTE = /^ {0,3}>[ \t]?/;
const TABLE_RULE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const INLINE = /(`{1,3})(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)|\*\*(?=\S)([^\n]{1,400}?)(?<=\S)\*\*|\[(\d{1,3})\](?!\()/g;

/** The blocks of a text, also of one that is still being written. */
export function blocksOf(text: string): Block[] {
  const lines = linesOf(text);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] as Line;
    if (line.text.trim() === "") {
      at += 1;
      continue;
    }
    at = block(text, lines, at, blocks);
  }
  return blocks;
}

function block(text: string, lines: Line[], at: number, blocks: Block[]): number {
  const line = lines[at] as Line;
  const fence = FENCE.exec(line.text);
  if (fence !== null) {
    return code(lines, at, (fence[1] as string).slice(0, 3), blocks);
  }
  const heading = HEADING.exec(line.text);
  if (heading !== null) {
    const parts = partsOf(text, line.start + heading[0].length, line.end);
    blocks.push({ kind: "heading", level: (heading[1] as string).length, parts });
    return at + 1;
  }
  if (isTable(lines, at)) {
    return table(text, lines, at, blocks);
  }
  if (ITEM.test(line.text)) {
    return list(text, lines, at, blocks);
  }
  return paragraph(text, lines, at, blocks);
}

function code(lines: Line[], at: number, mark: string, blocks: Block[]): number {
  let end = at + 1;
  while (end < lines.length && !(lines[end] as Line).text.trimStart().startsWith(mark)) {
    end += 1;
  }
  const first = lines[at + 1];
  if (first !== undefined && end > at + 1) {
    blocks.push({ kind: "code", start: first.start, end: (lines[end - 1] as Line).end });
  }
  return end + 1;
}

function isTable(lines: Line[], at: number): boolean {
  const rule = lines[at + 1];
  return (lines[at] as Line).text.includes("|") && rule !== undefined && rule.text.includes("-") && TABLE_RULE.test(rule.text);
}

function table(text: string, lines: Line[], at: number, blocks: Block[]): number {
  const head = cells(text, lines[at] as Line);
  const rows: Part[][][] = [];
  let next = at + 2;
  while (next < lines.length && (lines[next] as Line).text.includes("|")) {
    rows.push(cells(text, lines[next] as Line));
    next += 1;
  }
  blocks.push({ kind: "table", head, rows });
  return next;
}

function cells(text: string, line: Line): Part[][] {
  const found: Part[][] = [];
  let start = line.start + (line.text.length - line.text.trimStart().length);
  let end = line.start + line.text.trimEnd().length;
  start += text[start] === "|" ? 1 : 0;
  end -= end > start && text[end - 1] === "|" && text[end - 2] !== "\\" ? 1 : 0;
  for (let at = start; at <= end; at += 1) {
    if (at === end || (text[at] === "|" && text[at - 1] !== "\\")) {
      found.push(trimmed(text, start, at));
      start = at + 1;
    }
  }
  return found;
}

function trimmed(text: string, start: number, end: number): Part[] {
  while (start < end && /\s/.test(text[start] as string)) {
    start += 1;
  }
  while (end > start && /\s/.test(text[end - 1] as string)) {
    end -= 1;
  }
  return partsOf(text, start, end);
}

function list(text: string, lines: Line[], at: number, blocks: Block[]): number {
  const open: { indent: number; list: List }[] = [];
  let item: Item | null = null;
  for (; at < lines.length; at += 1) {
    const line = lines[at] as Line;
    const found = ITEM.exec(line.text);
    if (found === null) {
      const next = lines[at + 1];
      const isGap = line.text.trim() === "" && next !== undefined && ITEM.test(next.text);
      if (isGap) {
        continue;
      }
      if (item === null || line.text.trim() === "" || !/^\s/.test(line.text)) {
        break;
      }
      item.parts.push(...partsOf(text, line.start - 1, line.end));
      continue;
    }
    const indent = (found[1] as string).replaceAll("\t", "    ").length;
    const isOrdered = found[3] !== undefined;
    while (open.length > 1 && indent < (open.at(-1)?.indent ?? 0)) {
      open.pop();
    }
    let top = open.at(-1);
    if (top === undefined || (indent > top.indent + 1 && item !== null)) {
      const made: List = { kind: "list", isOrdered, first: Number(found[3] ?? 1), items: [] };
      (top === undefined ? blocks : (item as Item).inner).push(made);
      top = { indent, list: made };
      open.push(top);
    } else if (top.list.isOrdered !== isOrdered && open.length === 1) {
      break;
    }
    item = { parts: partsOf(text, line.start + found[0].length, line.end), inner: [] };
    top.list.items.push(item);
  }
  return at;
}

function paragraph(text: string, lines: Line[], at: number, blocks: Block[]): number {
  const isQuote = QUOTE.test((lines[at] as Line).text);
  const parts: Part[] = [];
  const first = at;
  for (; at < lines.length; at += 1) {
    const line = lines[at] as Line;
    const quote = QUOTE.exec(line.text);
    const breaks = line.text.trim() === "" || FENCE.test(line.text) || HEADING.test(line.text);
    if (at > first && (breaks || ITEM.test(line.text) || isTable(lines, at) || (quote !== null) !== isQuote)) {
      break;
    }
    // The line's end before it is part of it, so that lines stay lines.
    const start = quote === null ? line.start - (at > first ? 1 : 0) : line.start + quote[0].length;
    if (quote !== null && at > first) {
      parts.push(...partsOf(text, line.start - 1, line.start));
    }
    parts.push(...partsOf(text, start, line.end));
  }
  blocks.push({ kind: isQuote ? "quote" : "paragraph", parts });
  return at;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    lines.push({ start, end, text: text.slice(start, end) });
    start = end + 1;
  }
  return lines;
}

function partsOf(text: string, start: number, end: number, isStrong = false): Part[] {
  const parts: Part[] = [];
  const add = (kind: Part["kind"], from: number, to: number, number = 0): void => {
    if (to > from) {
      parts.push({ kind, start: from, end: to, isStrong, number, sentence: -1, endsSentence: false });
    }
  };
  const within = text.slice(start, end);
  let done = 0;
  for (const found of within.matchAll(INLINE)) {
    const at = found.index;
    add("text", start + done, start + at);
    done = at + found[0].length;
    if (found[2] !== undefined) {
      const ticks = (found[1] as string).length;
      add("code", start + at + ticks, start + done - ticks);
    } else if (found[3] !== undefined) {
      parts.push(...partsOf(text, start + at + 2, start + done - 2, true));
    } else {
      add("citation", start + at, start + done, Number(found[4]));
    }
  }
  add("text", start + done, end);
  return parts;
}

export interface Span {
  start: number;
  end: number;
}

/** The same blocks with their parts cut where sentences begin and end. `sentences` are in order. */
export function withSentences(blocks: Block[], sentences: readonly Span[]): Block[] {
  if (sentences.length === 0) {
    return blocks;
  }
  const last = new Map<number, Part>();
  const cut = (parts: Part[]): Part[] =>
    parts.flatMap((part) => {
      const pieces = part.kind === "text" ? pieced(part, sentences) : [{ ...part, sentence: sentenceAt(part.start, sentences) }];
      for (const piece of pieces) {
        if (piece.sentence >= 0) {
          last.set(piece.sentence, piece);
        }
      }
      return pieces;
    });
  const marked = blocks.map((one) => mapped(one, cut));
  for (const piece of last.values()) {
    piece.endsSentence = true;
  }
  return marked;
}

function mapped(one: Block, cut: (parts: Part[]) => Part[]): Block {
  switch (one.kind) {
    case "code":
      return one;
    case "table":
      return { ...one, head: one.head.map(cut), rows: one.rows.map((row) => row.map(cut)) };
    case "list":
      return mappedList(one, cut);
    default:
      return { ...one, parts: cut(one.parts) };
  }
}

function mappedList(list: List, cut: (parts: Part[]) => Part[]): List {
  const items = list.items.map((item) => ({
    parts: cut(item.parts),
    inner: item.inner.map((inner) => mappedList(inner, cut)),
  }));
  return { ...list, items };
}

function sentenceAt(offset: number, sentences: readonly Span[]): number {
  return sentences.findIndex((one) => one.start <= offset && offset < one.end);
}

function pieced(part: Part, sentences: readonly Span[]): Part[] {
  const pieces: Part[] = [];
  let at = part.start;
  while (at < part.end) {
    const index = sentenceAt(at, sentences);
    const here = sentences[index];
    const next = sentences.find((one) => one.start > at);
    const end = Math.min(part.end, here?.end ?? next?.start ?? part.end);
    pieces.push({ ...part, start: at, end, sentence: index });
    at = end;
  }
  return pieces;
}

/** Offsets in Unicode code points as offsets in the UTF-16 units of JavaScript's strings. */
export function inUnits(text: string, offsets: readonly number[]): number[] {
  if (!/[\ud800-\udbff]/.test(text)) {
    return [...offsets];
  }
  const units: number[] = [];
  let unit = 0;
  for (const character of text) {
    units.push(unit);
    unit += character.length;
  }
  units.push(unit);
  return offsets.map((offset) => units[Math.min(offset, units.length - 1)] ?? unit);
}

/** The same of spans, which keep whatever else they have. */
export function spansInUnits<T extends Span>(text: string, spans: readonly T[]): T[] {
  const offsets = inUnits(text, spans.flatMap((span) => [span.start, span.end]));
  return spans.map((span, index) => ({ ...span, start: offsets[2 * index] as number, end: offsets[2 * index + 1] as number }));
}
