/** A question with its answer, as it comes about or as it was kept. */

import type { ServerEvent } from "../../api/events";
import type { Problem } from "../../api/types";
import type { AnswerDetails, Evidence, Feedback, Round, StoredTurn } from "./types";

/** `lost` is an answer whose stream broke off: what became of it is asked of the server. */
export type ExchangeState = "waiting" | "writing" | "over" | "lost";

const NOTHING: AnswerDetails = {
  citations: [],
  support: [],
  sources: [],
  invented: [],
  grounded: "",
  finish_reason: "",
  model: null,
  usage: null,
  degraded: [],
  unread: [],
  latency_ms: null,
};

const INTERRUPTED = "interrupted";

let keys = 0;

export class Exchange {
  readonly key = (keys += 1);
  /** Number of the question's turn in its session; null until it is known. The answer's is one more. */
  number = $state<number | null>(null);
  state = $state<ExchangeState>("over");
  text = $state("");
  details = $state.raw<AnswerDetails>(NOTHING);
  sources = $state.raw<Evidence[]>([]);
  rounds = $state.raw<Round[]>([]);
  route = $state("");
  problem = $state.raw<Problem | null>(null);
  feedback = $state.raw<Feedback | null>(null);
  replacedBy = $state<number | null>(null);
  traceId = $state("");
  attachments = $state.raw<string[]>([]);
  /** Number of the last event that was taken. */
  seq = 0;
  /** Whether a person had it end here. */
  isStopped = false;

  constructor(
    readonly question: string,
    readonly askedAt: number,
  ) {}

  get isOver(): boolean {
    return this.state === "over";
  }

  get isInterrupted(): boolean {
    return this.isOver && this.details.finish_reason === "interrupted";
  }

  /** Take what the server keeps of it. */
  adopt(question: StoredTurn, answer: StoredTurn | undefined): void {
    this.number = question.number;
    this.replacedBy = question.replaced_by;
    this.attachments = question.attachments;
    this.traceId = question.trace_id;
    this.state = "over";
    if (answer === undefined) {
      this.details = { ...NOTHING, finish_reason: "interrupted" };
      return;
    }
    this.text = answer.text;
    this.details = { ...NOTHING, ...answer.answer };
    this.sources = this.details.sources;
    this.feedback = answer.feedback?.value ? answer.feedback : null;
  }

  /** It ends here, whether or not its end was told. */
  end(): void {
    if (!this.isOver) {
      this.details = { ...this.details, finish_reason: this.isStopped ? "stopped" : "interrupted" };
      this.state = "over";
    }
  }

  /** Take one event of the stream. */
  take(event: ServerEvent): void {
    const { name } = event;
    const data = event.data as Record<string, unknown>;
    this.seq = Number(event.id);
    if (this.state === "lost") {
      this.state = this.text === "" ? "waiting" : "writing";
    }
    this.traceId = typeof data.trace_id === "string" ? data.trace_id : this.traceId;
    switch (name) {
      case "router.decision":
        // Told from the beginning, also where a part of it was shown already.
        this.route = String(data.route);
        this.text = "";
        this.rounds = [];
        this.sources = [];
        break;
      case "rag.rewrite":
        this.noteRound({ round: Number(data.round), query: String(data.rewritten ?? data.question ?? "") });
        break;
      case "tool.call.start":
        this.noteRound({ round: Number(data.round), name: String(data.name) });
        break;
      case "tool.call.end":
        this.noteRound({
          round: Number(data.round),
          name: String(data.name),
          isOver: true,
          counts: countsIn(data),
          embedding_error: (data.embedding_error as string | null) ?? null,
          rerank: data.rerank ?? null,
          milliseconds: typeof data.ms === "number" ? data.ms : null,
        });
        break;
      case "rag.sources":
        this.noteSources((data.sources ?? []) as Evidence[]);
        break;
      case "assistant.delta":
        this.state = "writing";
        this.text += String(data.text);
        break;
      case "assistant.message":
        this.finish(data);
        break;
      case "error":
        this.fail(data);
        break;
    }
  }

  private finish(data: Record<string, unknown>): void {
    this.text = String(data.text ?? this.text);
    this.details = { ...NOTHING, sources: this.sources, ...(data as Partial<AnswerDetails>) };
    this.sources = this.details.sources;
    this.number = typeof data.turn === "number" ? data.turn - 1 : this.number;
    this.state = "over";
  }

  private fail(data: Record<string, unknown>): void {
    const saved = (data.saved ?? {}) as { text?: string; turn?: number | null };
    this.text = saved.text || this.text;
    this.number = typeof saved.turn === "number" ? saved.turn - 1 : this.number;
    if (data.code !== INTERRUPTED) {
      this.problem = { code: String(data.code), message: String(data.message), hint: String(data.hint) };
    }
    this.details = { ...this.details, finish_reason: "interrupted" };
    this.state = "over";
  }

  private noteRound(told: Partial<Round> & { round: number }): void {
    const blank: Round = {
      round: told.round,
      name: "",
      query: "",
      isOver: false,
      counts: {},
      embedding_error: null,
      rerank: null,
      milliseconds: null,
    };
    const known = this.rounds.find((one) => one.round === told.round);
    const others = this.rounds.filter((one) => one.round !== told.round);
    this.rounds = [...others, { ...(known ?? blank), ...told }];
  }

  private noteSources(found: Evidence[]): void {
    const known = new Map(this.sources.map((one) => [one.number, one]));
    for (const one of found) {
      known.set(one.number, one);
    }
    this.sources = [...known.values()].sort((one, other) => one.number - other.number);
  }
}

const COUNTED = ["structured_hits", "keyword_hits_raw", "keyword_hits_rewrite", "vector_hits"];

function countsIn(data: Record<string, unknown>): Record<string, number> {
  const counts = COUNTED.filter((name) => typeof data[name] === "number").map((name) => [name, data[name] as number]);
  return Object.fromEntries(counts) as Record<string, number>;
}

/** The exchanges that turns are made of; a question and the answer that follows it belong together. */
export function exchangesOf(turns: StoredTurn[]): Exchange[] {
  const made: Exchange[] = [];
  turns.forEach((turn, index) => {
    if (turn.role === "person") {
      const next = turns[index + 1];
      const exchange = new Exchange(turn.text, turn.created_at);
      exchange.adopt(turn, next?.role === "assistant" ? next : undefined);
      made.push(exchange);
    }
  });
  return made;
}
