/** Requests to the library under `api/v1`, relative to where the page is served: its server tells by `<base>`. */

import { language } from "../state/language.svelte";
import type { Problem } from "./types";

/** The address of everything below, with a slash at its end. */
export const API = new URL("api/v1/", document.baseURI).href;

export type Query = Record<string, string | number | boolean | null | undefined>;

/** An answer with an error, in the words a person is shown. */
export class ApiError extends Error implements Problem {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

let csrf: string | null = null;
let onKeyRequired: () => void = () => {};

/** The token that changes must carry while a cookie signs the requests. */
export function setCsrf(token: string | null): void {
  csrf = token;
}

/** Called whenever an answer says that a key is needed. */
export function whenKeyRequired(callback: () => void): void {
  onKeyRequired = callback;
}

/** The path of a route, its parts escaped: `path("documents", id, "text")`. */
export function path(...parts: (string | number)[]): string {
  return parts.map((part) => encodeURIComponent(String(part))).join("/");
}

export function url(where: string, query: Query = {}): string {
  const address = new URL(where, API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "" && value !== false) {
      address.searchParams.set(name, String(value));
    }
  }
  return address.href;
}

/** What every request says: the language of its answer, and where it changes something, the token. */
export function headers(method: string, more: Record<string, string> = {}): Record<string, string> {
  const said: Record<string, string> = { "Accept-Language": language.tag, ...more };
  if (method !== "GET" && csrf !== null) {
    said["X-CSRF-Token"] = csrf;
  }
  return said;
}

/** What an error answer says, whatever it consists of. */
export function errorOf(status: number, body: string): ApiError {
  let said: Record<string, unknown> = {};
  try {
    said = JSON.parse(body) as Record<string, unknown>;
  } catch {
    // A proxy in between answered with a page of its own.
  }
  const word = (name: string): string => (typeof said[name] === "string" ? (said[name] as string) : "");
  const error = new ApiError(status, word("code") || `http-${status}`, word("detail") || `HTTP ${status}`, word("hint"));
  if (status === 401) {
    onKeyRequired();
  }
  return error;
}

export interface Options {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** The answer to a request, unread. Throws `ApiError`; a request that was aborted throws an `AbortError`. */
export async function send(method: string, where: string, options: Options = {}): Promise<Response> {
  const init: RequestInit = { method, headers: headers(method, options.headers), credentials: "same-origin" };
  if (options.signal) {
    init.signal = options.signal;
  }
  if (options.body !== undefined) {
    init.body = JSON.stringify(options.body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(url(where, options.query), init);
  } catch (error) {
    throw options.signal?.aborted ? error : unreachable();
  }
  if (!answer.ok) {
    throw errorOf(answer.status, await answer.text());
  }
  return answer;
}

export function unreachable(): ApiError {
  return new ApiError(0, "unreachable", language.t("shell.unreachable"), language.t("shell.unreachable.hint"));
}

async function json<T>(method: string, where: string, options: Options): Promise<T> {
  const answer = await send(method, where, options);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const get = <T>(where: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  json<T>("GET", where, signal ? { query, signal } : { query });
export const post = <T>(where: string, body?: unknown): Promise<T> => json<T>("POST", where, { body });
export const put = <T>(where: string, body?: unknown): Promise<T> => json<T>("PUT", where, { body });
export const patch = <T>(where: string, body?: unknown): Promise<T> => json<T>("PATCH", where, { body });
export const del = (where: string): Promise<void> => json<void>("DELETE", where, {});

/** Every page of a list that comes in pages, one request each, as they are asked for. */
export async function* pages<T extends { next_cursor: string | null }>(
  where: string,
  query: Query,
  signal?: AbortSignal,
): AsyncGenerator<T> {
  let cursor: Query[string] = query.cursor ?? "";
  do {
    const page: T = await get<T>(where, { ...query, cursor }, signal);
    yield page;
    cursor = page.next_cursor;
  } while (cursor);
}
