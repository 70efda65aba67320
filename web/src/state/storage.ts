/** Choices of this browser, which a person may have forbidden to keep. */

const PREFIX = "wenyuan.";

export function stored<T>(name: string, otherwise: T, isValid: (value: unknown) => boolean): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
    return isValid(value) ? (value as T) : otherwise;
  } catch {
    return otherwise;
  }
}

/** Keep a choice; null forgets it. */
export function store(name: string, value: unknown): void {
  try {
    if (value === null) {
      localStorage.removeItem(PREFIX + name);
    } else {
      localStorage.setItem(PREFIX + name, JSON.stringify(value));
    }
  } catch {
    // The choice holds until the page is closed.
  }
}
