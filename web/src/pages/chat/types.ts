/** What is said in a conversation, as the interface tells it. */

import type { components } from "../../api/schema";
import type { Citation, Problem } from "../../api/types";

export type Evidence = components["schemas"]["Evidence"];

export interface Support {
  start: number;
  end: number;
  numbers: number[];
  support: "supported" | "weak" | "unsupported";
  missing: string[];
}

export interface Unread {
  name: string;
  why: string;
}

export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
  calls: number;
}

/** What is known of an answer besides its text; of one that was kept, parts may be missing. */
export interface AnswerDetails {
  citations: Citation[];
  support: Support[];
  sources: Evidence[];
  invented: unknown[];
  grounded: "likely" | "unlikely" | "none" | "";
  finish_reason: string;
  model: string | null;
  usage: Usage | null;
  degraded: string[];
  unread: Unread[];
  latency_ms: number | null;
}

export interface Feedback {
  value: "up" | "down";
  note: string;
}

export interface StoredTurn {
  number: number;
  role: "person" | "assistant";
  text: string;
  trace_id: string;
  created_at: number;
  replaced_by: number | null;
  answer: Partial<AnswerDetails> | null;
  attachments: string[];
  feedback: Feedback | null;
}

export interface TurnPage {
  turns: StoredTurn[];
  next_before: number | null;
}

/** One round of looking things up. */
export interface Round {
  round: number;
  name: string;
  query: string;
  isOver: boolean;
  counts: Record<string, number>;
  embedding_error: string | null;
  rerank: unknown;
  milliseconds: number | null;
}

export type Attachment = Omit<components["schemas"]["Attachment"], "problem"> & { problem: Problem | null };
