/** The trace of a search, as it is kept. Older ones may lack what was added since. */

import type { Anchor } from "../../api/types";

export type ListName = "structured" | "keyword" | "keyword_rewrite" | "vector";

export interface Stage {
  name: string;
  start_ms: number;
  ms: number;
  status: string;
  count: number | null;
  [more: string]: unknown;
}

export interface Candidate {
  key: number;
  chunk: string | null;
  kind?: string;
  exact?: boolean;
  bm25?: number;
  cosine?: number;
  /** Of the passage's nearest sentence; traces of earlier versions have none. */
  sentence_cosine?: number | null;
}

export type Candidates = {
  knowledge_base: string;
  documents: Record<string, string>;
  best_similarity: number | null;
  frequency: Record<string, number>;
  size: number;
} & Record<ListName, Candidate[]>;

export interface DateRead {
  text: string;
  first: string;
  last: string;
  reading: string;
}

export interface TracePlan {
  tokens: string[];
  aliases: string[];
  dates: DateRead[];
  versions: string[];
  codes: string[];
  names: string[];
  phrases: string[];
  excluded: string[];
  notes: string[];
  as_of: string | null;
  language: string;
}

export interface TraceHit {
  chunk: string;
  document: string;
  anchor: Anchor;
  score: number;
  ranks: Partial<Record<ListName, number>>;
  exactness: string;
}

export interface Trace {
  id: string;
  at: string;
  question: string;
  knowledge_bases: { id: string; name: string }[];
  plan: TracePlan;
  rewritten: string | null;
  total_ms: number;
  stages: Stage[];
  counters: Record<string, number | string | null>;
  degraded: string[];
  candidates: Candidates[];
  hits: TraceHit[];
  grounding: { value: number; verdict: string; missing: string[] } | null;
  why_empty: { code: string } | string | null;
  explanation: string;
  rerank?: unknown;
  answer?: { grounded: string; finish_reason: string };
}

export interface TraceSummary {
  id: string;
  created_at: number;
  question: string;
  knowledge_bases: string[];
  hits: number;
  why_empty: string | null;
  degraded: string[];
  milliseconds: number;
}
