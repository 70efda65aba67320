/** What is being worked on, as it happens: one stream of events that every part of the page shares. */

import { SvelteMap } from "svelte/reactivity";
import { events } from "../api/events";
import type { JobEvent } from "../api/types";

const LIVE = new Set(["queued", "started", "stage", "progress", "waiting"]);
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 15_000;

type Listener = (event: JobEvent) => void;

class JobsState {
  /** The newest event of each job under way, by the id of what the job is about (a revision, mostly). */
  readonly live = new SvelteMap<string, JobEvent>();
  /** Whether the stream is open; where it is not, what is shown may be old. */
  isConnected = $state(false);
  /** Whether it could not be opened again at once. */
  isLost = $state(false);

  private readonly listeners = new Set<Listener>();
  private stopping: AbortController | null = null;
  private last = "";

  /** Be told of every event until the returned function is called. */
  follow(listener: Listener): () => void {
    this.listeners.add(listener);
    if (this.stopping === null) {
      void this.run();
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) {
        this.stopping?.abort();
        this.stopping = null;
        this.last = "";
        this.live.clear();
        this.isConnected = this.isLost = false;
      }
    };
  }

  private async run(): Promise<void> {
    const stopping = new AbortController();
    this.stopping = stopping;
    let pause = FIRST_PAUSE;
    while (!stopping.signal.aborted) {
      try {
        const headers: Record<string, string> = this.last ? { "Last-Event-ID": this.last } : {};
        const onOpen = () => {
          this.isConnected = true;
          this.isLost = false;
          pause = FIRST_PAUSE;
        };
        for await (const event of events("GET", "jobs/events", { signal: stopping.signal, headers, onOpen })) {
          this.last = event.id;
          if (event.name.startsWith("job.")) {
            this.take(event.data as JobEvent);
          }
        }
      } catch {
        // Tried again below: the page goes on showing what it knows.
      }
      if (this.stopping !== stopping) {
        // Nobody listened any more; whoever listens now has a stream of their own.
        return;
      }
      this.isConnected = false;
      this.isLost = pause > FIRST_PAUSE;
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  private take(event: JobEvent): void {
    if (LIVE.has(event.kind)) {
      this.live.set(event.job.subject_id, event);
    } else if (this.live.get(event.job.subject_id)?.job.id === event.job.id) {
      this.live.delete(event.job.subject_id);
    }
    for (const listener of this.listeners) {
      listener(event);
    }
  }
}

export const jobs = new JobsState();
