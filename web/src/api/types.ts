/** The values of the HTTP interface under short names; `schema.ts` is generated from its description. */

import type { components } from "./schema";

type Schemas = components["schemas"];

/** Why something failed, as it is stored with a document or a job, or as an answer with an error tells it. */
export interface Problem {
  code: string;
  message: string;
  hint: string;
}

type WithProblems<T> = T extends object
  ? { [Key in keyof T]: Key extends "problem" | "waiting" | "blocked" ? Problem | null : WithProblems<T[Key]> }
  : T;

export type KnowledgeBaseView = WithProblems<Schemas["KnowledgeBaseView"]>;
export type DocumentView = WithProblems<Schemas["DocumentView"]>;
export type Revision = DocumentView["latest"];
export type RebuildView = WithProblems<Schemas["RebuildView"]>;
export type Received = WithProblems<Schemas["Received"]>;
export type Job = WithProblems<Schemas["Job"]>;
export type StoredPassage = Schemas["StoredPassage"];
export type Place = WithProblems<Schemas["Place"]>;
export type Anchor = Schemas["Anchor"];
export type Citation = Schemas["Citation"];
export type SearchResult = Schemas["SearchResult"];
export type Hit = Schemas["Hit"];
export type Session = Schemas["Session"];
export type EvaluationRun = Schemas["EvaluationRun"];
export type RunRecord = Schemas["RunRecord"];
export type ModelView = Schemas["ModelView"];
export type DocumentPolicy = Schemas["DocumentPolicy"];
export type Statistics = Schemas["KnowledgeBaseStatistics"];
export type ChunkPreview = Schemas["ChunkPreview"];
export type SourceView = WithProblems<Schemas["SourceView"]>;
export type AccessKey = Schemas["AccessKey"];

/** What a key may do. */
export type Scope = "read" | "write" | "admin";

/** Who asks, and what they may do. `knowledge_bases` null is every one. */
export type Me = Schemas["Me"];

/** What happened to a job, and how it stands since. */
export interface JobEvent {
  seq: number;
  kind: "queued" | "started" | "stage" | "progress" | "waiting" | "done" | "failed" | "cancelled";
  job: Job;
  document: string;
  knowledge_base: string;
  size: number;
  rate: number | null;
  seconds_left: number | null;
}
