/** The passages of a document around where one reads, more of them as one goes on. */

import { get, path } from "../../api/client";
import type { StoredPassage } from "../../api/types";

interface PassagePage {
  passages: StoredPassage[];
  next_cursor: string | null;
}

const BEFORE = 30;
const PAGE = 100;

export class Passages {
  items = $state.raw<StoredPassage[]>([]);
  isStart = $state(true);
  isEnd = $state(false);
  isLoaded = $state(false);
  problem = $state.raw<unknown>(null);
  private isLoading = false;

  constructor(private readonly document: string) {}

  /** Load those around the passage numbered `seq`. */
  async around(seq: number): Promise<void> {
    const first = Math.max(0, seq - BEFORE);
    await this.load(async () => {
      const page = await this.page(first, PAGE);
      this.items = page.passages;
      this.isStart = first === 0;
      this.isEnd = page.next_cursor === null;
    });
  }

  async later(): Promise<void> {
    const last = this.items.at(-1);
    if (last !== undefined && !this.isEnd) {
      await this.load(async () => {
        const page = await this.page(last.chunk.seq + 1, PAGE);
        this.items = [...this.items, ...page.passages];
        this.isEnd = page.next_cursor === null;
      });
    }
  }

  async earlier(): Promise<void> {
    const first = this.items[0]?.chunk.seq ?? 0;
    if (first > 0) {
      const from = Math.max(0, first - PAGE);
      await this.load(async () => {
        const page = await this.page(from, first - from);
        this.items = [...page.passages, ...this.items];
        this.isStart = from === 0;
      });
    }
  }

  has(seq: number): boolean {
    return this.items.some(({ chunk }) => chunk.seq === seq);
  }

  switch(seq: number, enabled: boolean): void {
    this.items = this.items.map((one) => (one.chunk.seq === seq ? { ...one, enabled } : one));
  }

  private async load(some: () => Promise<void>): Promise<void> {
    if (this.isLoading) {
      return;
    }
    this.isLoading = true;
    try {
      await some();
      this.isLoaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = error;
    } finally {
      this.isLoading = false;
    }
  }

  private page(cursor: number, limit: number): Promise<PassagePage> {
    return get<PassagePage>(path("documents", this.document, "chunks"), { cursor: String(cursor), limit });
  }
}
