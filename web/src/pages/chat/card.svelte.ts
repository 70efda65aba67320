/** The small card beside a citation or a mark: one for the page, since it must not be cut off by what it belongs to. */

import type { Citation } from "../../api/types";
import type { Support } from "./types";

export type CardContent = { kind: "citation"; citation: Citation } | { kind: "support"; support: Support };

interface Shown {
  content: CardContent;
  /** Where it belongs to, in the window. */
  rect: DOMRect;
}

const CLOSE_AFTER_MS = 180;

class CardState {
  shown = $state.raw<Shown | null>(null);
  private closing: ReturnType<typeof setTimeout> | undefined;

  open(of: Element, content: CardContent): void {
    clearTimeout(this.closing);
    this.shown = { content, rect: of.getClientRects()[0] ?? of.getBoundingClientRect() };
  }

  /** The pointer may be on its way to the card. */
  leave(): void {
    clearTimeout(this.closing);
    this.closing = setTimeout(() => this.close(), CLOSE_AFTER_MS);
  }

  stay(): void {
    clearTimeout(this.closing);
  }

  close(): void {
    clearTimeout(this.closing);
    this.shown = null;
  }
}

export const card = new CardState();
