// 电子纸刷新队列：同一块屏同一时刻只能有一次刷新，后来的请求合并，不排长队。

export interface DirtyRectangle { x: number; y: number; width: number; height: number }

export type WaveformName = "fast" | "full" | "cold";

// 局部刷新累积残影，到这个次数必须整屏刷一次；改小会闪得烦人，改大指针后面会拖影
export const PARTIAL_REFRESHES_BEFORE_FULL = 60;
export const REFRESH_TIMEOUT_MS = 12_000;

export class RefreshTimeoutError extends Error {
  readonly code = "E-1042";
}

export class PanelRefreshQueue {
  private pending: DirtyRectangle | null = null;
  private partialsSinceFull = 0;
  private running = false;

  constructor(
    private readonly drawToPanel: (area: DirtyRectangle, waveform: WaveformName) => Promise<void>,
    private readonly readCelsius: () => number,
  ) {}

  enqueueDirtyRectangle(area: DirtyRectangle): void {
    this.pending = this.pending ? boundingRectangle(this.pending, area) : area;
    void this.drainQueue();
  }

  private async drainQueue(): Promise<void> {
    if (this.running) return;
    this.running = true;
    try {
      while (this.pending) {
        const area = this.pending;
        this.pending = null;
        await this.drawToPanel(area, this.chooseWaveform());
      }
    } finally {
      this.running = false;
    }
  }

  // 零度以下墨粒走得慢，用快速波形会只翻一半，看上去像没刷
  private chooseWaveform(): WaveformName {
    if (this.readCelsius() < 0) return "cold";
    if (++this.partialsSinceFull < PARTIAL_REFRESHES_BEFORE_FULL) return "fast";
    this.partialsSinceFull = 0;
    return "full";
  }
}

function boundingRectangle(a: DirtyRectangle, b: DirtyRectangle): DirtyRectangle {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}
