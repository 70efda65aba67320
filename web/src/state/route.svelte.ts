/** Where in the page one is. It stands behind `#`, so that the page works under any path without its server's help. */

export interface Route {
  /** Its parts, decoded: `#/kb/kb_01/settings` has three. */
  parts: string[];
  query: URLSearchParams;
}

function read(): Route {
  const [where = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parts = where.split("/").filter(Boolean);
  return { parts: parts.map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class RouteState {
  current = $state.raw<Route>(read());

  constructor() {
    addEventListener("hashchange", () => {
      this.current = read();
    });
  }

  get parts(): string[] {
    return this.current.parts;
  }

  get query(): URLSearchParams {
    return this.current.query;
  }
}

export const route = new RouteState();

/** The link to a place: `href(["kb", id], { state: "failed" })`. */
export function href(parts: (string | number)[], query: Record<string, string> = {}): string {
  const said = Object.entries(query).filter(([, value]) => value !== "");
  const search = said.length > 0 ? `?${new URLSearchParams(said)}` : "";
  return `#/${parts.map((part) => encodeURIComponent(String(part))).join("/")}${search}`;
}

/** Go to a place. `replaces` leaves no step back to this one. */
export function go(where: string, replaces = false): void {
  if (replaces) {
    location.replace(where);
  } else {
    location.hash = where;
  }
}
