/** Uploads with true progress, which `fetch` cannot tell. */

import { errorOf, headers, unreachable, url } from "./client";
import type { Received } from "./types";

export interface Upload {
  /** What became of the file. Rejects with `ApiError`, or an `AbortError` where it was stopped. */
  result: Promise<Received>;
  stop: () => void;
}

/** Send a file to a route that takes one. `onProgress` is told how many bytes of it have left. */
export function upload(where: string, file: File, name: string, onProgress: (sent: number) => void): Upload {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.append("name", name);
  form.append("file", file, file.name);
  const result = new Promise<Received>((resolve, reject) => {
    request.upload.onprogress = (event) => onProgress(Math.min(event.loaded, file.size));
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) {
        resolve(JSON.parse(request.responseText) as Received);
      } else {
        reject(errorOf(request.status, request.responseText));
      }
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.open("POST", url(where));
    for (const [header, value] of Object.entries(headers("POST"))) {
      request.setRequestHeader(header, value);
    }
    request.send(form);
  });
  return { result, stop: () => request.abort() };
}
