/** Server-sent events through `fetch`, which can send a body, a token and a language, and be stopped. */

import { type Options, send } from "./client";

export interface ServerEvent {
  id: string;
  name: string;
  data: unknown;
}

/** The events of an answer, until it ends or is aborted; `onOpen` is called once it has begun. Throws `ApiError` where it is an error instead. */
export async function* events(
  method: string,
  where: string,
  options: Options & { onOpen?: () => void } = {},
): AsyncGenerator<ServerEvent> {
  const answer = await send(method, where, { ...options, headers: { Accept: "text/event-stream", ...options.headers } });
  if (answer.body === null) {
    return;
  }
  options.onOpen?.();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      rest += value;
      let end: number;
      while ((end = rest.indexOf("\n\n")) >= 0) {
        const event = parsed(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (event !== null) {
          yield event;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** One event, or null for a comment. */
export function parsed(block: string): ServerEvent | null {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) {
      fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
  }
  return fields.data === undefined
    ? null
    : { id: fields.id ?? "", name: fields.event ?? "", data: JSON.parse(fields.data) as unknown };
}
