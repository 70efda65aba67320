/** One conversation: what was said in it, and what is being said. */

import { ApiError, del, get, patch, path, post, put } from "../../api/client";
import { events } from "../../api/events";
import type { Session } from "../../api/types";
import { messages } from "../../state/messages.svelte";
import { Exchange, exchangesOf } from "./exchange.svelte";
import { sessions } from "./sessions.svelte";
import type { Feedback, StoredTurn, TurnPage } from "./types";

const TURNS_AT_ONCE = 60;
const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 4000;
/** How long a stream that was left without any event is waited for before what is kept is looked at. */
const SETTLE_MS = 300;
/** How long a stopped answer may take to end by itself. */
const STOP_MS = 1500;

export interface Asked {
  question: string;
  prefer: string;
  model: string;
  replaces?: number;
}

export class Conversation {
  session = $state.raw<Session | null>(null);
  exchanges = $state.raw<Exchange[]>([]);
  /** The knowledge bases that are asked, by name; null is every one. */
  bases = $state.raw<string[] | null>(null);
  isLoading = $state(false);
  isLoadingOlder = $state(false);
  problem = $state.raw<unknown>(null);
  /** Where what was said before begins; null where all is here. */
  before = $state<number | null>(null);

  private stopping: AbortController | null = null;
  private beginning: Promise<Session> | null = null;
  private isClosed = false;

  /** `onBegun` is told of the session that the first question, or the first file, begins. */
  constructor(private readonly onBegun: (session: Session) => void) {}

  get isBusy(): boolean {
    return this.exchanges.some((one) => !one.isOver);
  }

  get shown(): Exchange[] {
    return this.exchanges.filter((one) => one.replacedBy === null);
  }

  get replaced(): Exchange[] {
    return this.exchanges.filter((one) => one.replacedBy !== null);
  }

  /** Show a session that there is. */
  async open(id: string): Promise<void> {
    this.isLoading = true;
    try {
      const [session, page] = await Promise.all([get<Session>(path("sessions", id)), this.page(id)]);
      this.session = session;
      this.bases = session.knowledge_bases;
      this.exchanges = exchangesOf(page.turns);
      this.before = page.next_before;
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.isLoading = false;
    this.takeUp();
  }

  /** Leave it: a stream that is open ends, and what was said is kept by the server. */
  close(): void {
    this.isClosed = true;
    this.stopping?.abort();
  }

  async loadOlder(): Promise<void> {
    if (this.session === null || this.before === null || this.isLoadingOlder) {
      return;
    }
    this.isLoadingOlder = true;
    try {
      const page = await this.page(this.session.id, this.before);
      this.exchanges = [...exchangesOf(page.turns), ...this.exchanges];
      this.before = page.next_before;
    } catch (error) {
      messages.problem(error);
    }
    this.isLoadingOlder = false;
  }

  /** Bring what another tab added. Nothing is changed while an answer is written here. */
  async refresh(): Promise<void> {
    if (this.session === null || this.isBusy) {
      return;
    }
    const page = await this.page(this.session.id);
    if (this.isBusy) {
      return;
    }
    const fresh = exchangesOf(page.turns);
    const first = fresh[0]?.number ?? 0;
    const kept = this.exchanges.filter((one) => one.number !== null && one.number < first);
    const known = new Map(this.exchanges.map((one) => [one.number, one]));
    this.exchanges = [...kept, ...fresh.map((one) => same(known.get(one.number), one))];
    this.before = kept.length > 0 ? this.before : page.next_before;
    this.takeUp();
  }

  /** The session, made where there is none yet. */
  async ensured(): Promise<Session> {
    if (this.session !== null) {
      return this.session;
    }
    this.beginning ??= post<Session>("sessions", { knowledge_bases: this.bases });
    try {
      const begun = await this.beginning;
      if (this.session === null) {
        this.session = begun;
        sessions.note(begun);
        if (!this.isClosed) {
          this.onBegun(begun);
        }
      }
      return begun;
    } finally {
      this.beginning = null;
    }
  }

  async choose(bases: string[] | null): Promise<void> {
    this.bases = bases;
    if (this.session !== null) {
      this.session = await patch<Session>(path("sessions", this.session.id), { knowledge_bases: bases });
    }
  }

  /** Ask, and follow the answer until it is there, was stopped or failed. */
  async ask(asked: Asked): Promise<void> {
    if (this.isBusy) {
      return;
    }
    const exchange = new Exchange(asked.question, Date.now());
    exchange.state = "waiting";
    const replaced = asked.replaces;
    if (replaced !== undefined) {
      for (const one of this.exchanges) {
        if (one.replacedBy === null && one.number !== null && one.number >= replaced) {
          one.replacedBy = Infinity;
        }
      }
    }
    this.exchanges = [...this.exchanges, exchange];
    const stopping = new AbortController();
    this.stopping = stopping;
    try {
      const session = await this.ensured();
      await this.stream(exchange, session, asked, stopping.signal);
    } catch (error) {
      this.failed(exchange, error);
    }
    await this.resume(exchange, stopping.signal);
    await this.settle(exchange);
    if (this.stopping === stopping) {
      this.stopping = null;
    }
    sessions.changed(this.session?.id ?? "");
  }

  /** Have the answer end here; what was said is kept. */
  async stop(): Promise<void> {
    const exchange = this.exchanges.find((one) => !one.isOver);
    if (exchange === undefined || exchange.traceId === "" || exchange.state === "lost") {
      if (exchange !== undefined) {
        exchange.isStopped = exchange.state !== "lost";
      }
      this.stopping?.abort();
      return;
    }
    const stopping = this.stopping;
    exchange.isStopped = true;
    const isTold = await del(path("chat", exchange.traceId)).then(
      () => true,
      () => false,
    );
    // A model that says nothing more does not notice; whoever stopped it does not wait for that.
    await new Promise((resolve) => setTimeout(resolve, isTold ? STOP_MS : 0));
    if (!exchange.isOver) {
      stopping?.abort();
    }
  }

  async rate(exchange: Exchange, feedback: Feedback | null): Promise<void> {
    await put(this.answerPath(exchange, "feedback"), { value: feedback?.value ?? "none", note: feedback?.note ?? "" });
    exchange.feedback = feedback;
  }

  /** Make a case of a set of the question. `expected` is what should be found, what the answer cites where empty. */
  async keepAsCase(exchange: Exchange, set: string, expected: string[]): Promise<void> {
    await post(this.answerPath(exchange, "case"), { set, expect: expected });
  }

  private answerPath(exchange: Exchange, deed: string): string {
    return path("sessions", this.session?.id ?? "", "turns", (exchange.number ?? 0) + 1, deed);
  }

  private async stream(exchange: Exchange, session: Session, asked: Asked, signal: AbortSignal): Promise<void> {
    const body: Record<string, unknown> = { question: asked.question, session: session.id, prefer: asked.prefer };
    if (asked.model) {
      body.model = asked.model;
    }
    if (asked.replaces !== undefined) {
      body.replaces = asked.replaces;
    }
    let isAnnounced = false;
    for await (const event of events("POST", "chat", { body, signal })) {
      exchange.take(event);
      if (!isAnnounced) {
        isAnnounced = true;
        sessions.changed(session.id);
      }
    }
  }

  private failed(exchange: Exchange, error: unknown): void {
    if (error instanceof ApiError && error.status > 0) {
      exchange.problem = error;
      exchange.state = "over";
      this.restoreReplaced();
    }
  }

  /** Take up the newest answer where it may still be written, or learn how it ended. */
  private takeUp(): void {
    const newest = this.exchanges.at(-1);
    if (newest?.isInterrupted && newest.traceId && !this.isBusy) {
      const stopping = new AbortController();
      this.stopping = stopping;
      newest.state = "waiting";
      newest.seq = 0;
      void this.resume(newest, stopping.signal, true);
    }
  }

  /** Follow an answer whose stream broke off, for as long as its server is away. */
  private async resume(exchange: Exchange, signal: AbortSignal, isAtOnce = false): Promise<void> {
    let pause = isAtOnce ? 0 : FIRST_PAUSE;
    while (!exchange.isOver && exchange.traceId && !signal.aborted && !this.isClosed) {
      exchange.state = pause > 0 ? "lost" : exchange.state;
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(Math.max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE);
      try {
        const headers = { "Last-Event-ID": String(exchange.seq) };
        for await (const event of events("GET", path("chat", exchange.traceId), { signal, headers })) {
          exchange.take(event);
          pause = FIRST_PAUSE;
        }
      } catch (error) {
        if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
          break;
        }
      }
    }
    exchange.end();
  }

  /** A question that was refused took nothing's place. */
  private restoreReplaced(): void {
    for (const one of this.exchanges) {
      if (one.replacedBy === Infinity) {
        one.replacedBy = null;
      }
    }
  }

  /** Learn under which number an exchange is kept, where no event told it. */
  private async settle(exchange: Exchange): Promise<void> {
    const isRefused = exchange.problem !== null && exchange.traceId === "";
    if (this.session !== null && exchange.number === null && !isRefused && !this.isClosed) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      const { turns } = await this.page(this.session.id).catch(() => ({ turns: [] as StoredTurn[] }));
      const index = turns.findLastIndex((turn) => turn.role === "person" && turn.text === exchange.question);
      const question = turns[index];
      if (question !== undefined && (exchange.traceId === "" || question.trace_id === exchange.traceId)) {
        exchange.number = question.number;
      }
    }
    for (const one of this.exchanges) {
      if (one.replacedBy === Infinity) {
        one.replacedBy = exchange.number ?? Infinity;
      }
    }
  }

  private async page(session: string, before?: number): Promise<TurnPage> {
    return await get<TurnPage>(path("sessions", session, "turns"), { limit: TURNS_AT_ONCE, before });
  }
}

/** What is known already, where nothing changed, so that it is not drawn anew. */
function same(known: Exchange | undefined, fresh: Exchange): Exchange {
  if (known === undefined || known.text !== fresh.text || known.details.finish_reason !== fresh.details.finish_reason) {
    return fresh;
  }
  known.replacedBy = fresh.replacedBy;
  known.feedback = fresh.feedback;
  return known;
}
