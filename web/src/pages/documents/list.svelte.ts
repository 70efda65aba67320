/** The documents of a knowledge base, kept as they are on the server while one looks at them. */

import { ApiError, get, pages, path } from "../../api/client";
import type { DocumentView, JobEvent } from "../../api/types";
import { jobs } from "../../state/jobs.svelte";
import { uploads } from "../../state/uploads.svelte";

interface DocumentPage {
  documents: DocumentView[];
  next_cursor: string | null;
}

const PAGE = 250;
/** As many as a page of a browser holds without effort; beyond, a person asks the search. */
export const MOST = 20_000;
const PAUSE_MS = 250;
const AT_ONCE = 4;
const MOST_REFRESHED = 64;

export class DocumentList {
  /** The oldest first, as the server lists them. */
  rows = $state.raw<DocumentView[]>([]);
  isComplete = $state(false);
  problem = $state.raw<unknown>(null);

  private readonly stopping = new AbortController();
  private readonly toRefresh = new Set<string>();
  private readonly stops: (() => void)[];
  private hasUnknown = false;
  /** The last one that the server listed: before what this page added itself, others may have added more. */
  private last = "";
  private timer = 0;
  private isRefreshing = false;

  constructor(readonly base: string) {
    this.stops = [
      jobs.follow((event) => this.hear(event)),
      uploads.follow((item) => {
        if (item.base === base && item.received?.document_id) {
          this.refresh(item.received.document_id);
        }
      }),
    ];
    void this.load();
  }

  close(): void {
    this.stopping.abort();
    clearTimeout(this.timer);
    this.stops.forEach((stop) => stop());
  }

  async load(): Promise<void> {
    this.problem = null;
    const found: DocumentView[] = [];
    try {
      const where = path("knowledge-bases", this.base, "documents");
      for await (const page of pages<DocumentPage>(where, { limit: PAGE }, this.stopping.signal)) {
        found.push(...page.documents);
        this.last = page.documents.at(-1)?.document.id ?? this.last;
        this.rows = [...found];
        if (found.length >= MOST) {
          return;
        }
      }
      this.isComplete = true;
    } catch (error) {
      this.fail(error);
    }
  }

  /** Have a document shown as it stands now. */
  refresh(id: string): void {
    this.toRefresh.add(id);
    this.wake();
  }

  /** Show a document as it was just answered. */
  put(view: DocumentView): void {
    this.adopt(new Map([[view.document.id, view]]));
  }

  remove(ids: Iterable<string>): void {
    const gone = new Set(ids);
    this.rows = this.rows.filter((row) => !gone.has(row.document.id));
  }

  private hear(event: JobEvent): void {
    if (event.job.knowledge_base_id !== this.base || event.kind === "progress") {
      return;
    }
    const about = event.job.subject_id;
    const row = this.rows.find(({ latest, document }) =>
      [latest.id, document.serving_revision_id, document.id].includes(about),
    );
    if (row !== undefined) {
      this.refresh(row.document.id);
    } else if (event.job.kind === "ingest" || event.job.kind === "purge" || event.kind === "done") {
      // Somebody else added something, or something came out of an archive or a folder.
      this.hasUnknown = true;
      this.wake();
    }
  }

  private wake(): void {
    if (this.timer === 0) {
      this.timer = window.setTimeout(() => void this.catchUp(), PAUSE_MS);
    }
  }

  private async catchUp(): Promise<void> {
    if (!this.isRefreshing) {
      this.isRefreshing = true;
      try {
        await this.refreshAll();
      } catch (error) {
        this.fail(error);
      }
      this.isRefreshing = false;
    }
    this.timer = 0;
    if (this.toRefresh.size > 0 || this.hasUnknown) {
      this.wake();
    }
  }

  private async refreshAll(): Promise<void> {
    if (this.hasUnknown && this.isComplete) {
      this.hasUnknown = false;
      await this.append();
    }
    const wanted = [...this.toRefresh].slice(0, MOST_REFRESHED);
    wanted.forEach((id) => this.toRefresh.delete(id));
    const found = new Map<string, DocumentView | null>();
    const asked = [...wanted];
    const some = async (): Promise<void> => {
      for (let id = asked.pop(); id !== undefined; id = asked.pop()) {
        found.set(id, await this.now(id));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, some));
    this.adopt(found);
  }

  /** A document as it stands now; null where it is not in this knowledge base any more. */
  private async now(id: string): Promise<DocumentView | null> {
    try {
      const view = await get<DocumentView>(path("documents", id), {}, this.stopping.signal);
      return view.document.knowledge_base_id === this.base ? view : null;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        return null;
      }
      throw error;
    }
  }

  /** Show what was found of some documents, in one step: each step draws the list. */
  private adopt(found: Map<string, DocumentView | null>): void {
    const known = new Set(this.rows.map((row) => row.document.id));
    const rows = this.rows.flatMap((row) => {
      const now = found.get(row.document.id);
      return now === undefined ? [row] : now === null ? [] : [now];
    });
    for (const [id, now] of found) {
      if (now !== null && !known.has(id)) {
        rows.push(now);
      }
    }
    this.rows = rows;
  }

  /** What was added since the last one that is known. */
  private async append(): Promise<void> {
    const where = path("knowledge-bases", this.base, "documents");
    const query = { limit: PAGE, cursor: this.last };
    for await (const page of pages<DocumentPage>(where, query, this.stopping.signal)) {
      this.last = page.documents.at(-1)?.document.id ?? this.last;
      const known = new Set(this.rows.map((row) => row.document.id));
      this.rows = [...this.rows, ...page.documents.filter((row) => !known.has(row.document.id))];
    }
  }

  private fail(error: unknown): void {
    if (!this.stopping.signal.aborted) {
      this.problem = error;
    }
  }
}
