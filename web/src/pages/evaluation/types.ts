import type { components } from "../../api/schema";

type Schemas = components["schemas"];

export type SetView = Schemas["SetView"];
export type RunRecord = Schemas["RunRecord"];
export type EvaluationRun = Schemas["EvaluationRun"];
export type CaseResult = EvaluationRun["cases"][number];
export type Comparison = Schemas["Comparison"];
export type CaseChange = Comparison["worse"][number];
export type Case = Schemas["Case"];
