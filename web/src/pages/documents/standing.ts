/** How a document stands, in one word, one sentence and one next step. */

import type { DocumentView, JobEvent, Problem } from "../../api/types";
import { t } from "../../state/language.svelte";

export type Kind = "working" | "waiting" | "ready" | "doubtful" | "failed" | "blocked" | "off";
export type Step = "retry" | "cancel" | "enable";

export interface Standing {
  kind: Kind;
  label: string;
  /** How far the work is, from 0 to 1; null where that cannot be told, and undefined where nothing is being done. */
  progress?: number | null;
  secondsLeft?: number | null;
  problem?: Problem | null;
  step?: Step;
}

/** `live` is the newest event of the job that is about the document's newest revision. */
export function standing(view: DocumentView, live: JobEvent | undefined): Standing {
  const { latest, semantic } = view;
  if (view.moving_to) {
    return { kind: "working", label: t("documents.moving", { base: view.moving_to }), progress: null };
  }
  if (latest.state === "failed") {
    const label = view.updating ? t("documents.update-failed") : t("documents.failed");
    return { kind: "failed", label, problem: latest.problem, step: "retry" };
  }
  if (latest.state === "cancelled") {
    return { kind: "failed", label: t("documents.cancelled"), step: "retry" };
  }
  if (latest.state === "pending" || latest.state === "processing") {
    return working(view, live);
  }
  return view.availability === "allowed" ? published(view, live, semantic) : shut(view);
}

function working(view: DocumentView, live: JobEvent | undefined): Standing {
  const waiting = live?.kind === "waiting" ? live.job.problem : view.waiting;
  if (waiting) {
    return { kind: "waiting", label: t("documents.put-off"), problem: waiting, step: "cancel" };
  }
  if (live === undefined || live.kind === "queued") {
    return { kind: "waiting", label: t("documents.queued"), step: "cancel" };
  }
  const stage = `documents.stage.${live.job.stage}`;
  const label = t(t(stage) === stage ? "documents.reading" : stage);
  const progress = live.job.total > 0 ? live.job.done / live.job.total : null;
  return { kind: "working", label, progress, secondsLeft: live.seconds_left, step: "cancel" };
}

function shut(view: DocumentView): Standing {
  return view.availability === "blocked"
    ? { kind: "blocked", label: t("documents.blocked"), problem: view.blocked ?? null }
    : { kind: "off", label: t("documents.off"), step: "enable" };
}

function published(view: DocumentView, live: JobEvent | undefined, semantic: DocumentView["semantic"]): Standing {
  if (semantic.state === "failed") {
    return { kind: "failed", label: t("documents.no-vectors"), problem: semantic.problem ?? null, step: "retry" };
  }
  if (semantic.state === "pending") {
    if (view.waiting) {
      return { kind: "waiting", label: t("documents.vectors-put-off"), problem: view.waiting, step: "cancel" };
    }
    const isEmbedding = live?.job.kind === "embed" && live.job.total > 0;
    const [done, total] = isEmbedding ? [live.job.done, live.job.total] : [semantic.done, semantic.total];
    const secondsLeft = live?.seconds_left ?? null;
    return {
      kind: "working",
      label: t("documents.embedding"),
      progress: total > 0 ? done / total : null,
      secondsLeft,
      step: "cancel",
    };
  }
  const isDoubtful = (view.doubts ?? []).length > 0;
  return isDoubtful
    ? { kind: "doubtful", label: t("documents.doubtful") }
    : { kind: "ready", label: t(semantic.state === "none" ? "documents.ready-by-words" : "documents.ready") };
}
