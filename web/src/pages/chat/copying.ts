/** Put a text on the clipboard; a page that came over plain HTTP may do so only by the older way. */
export async function copied(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) {
    throw new Error("The browser did not let the page copy.");
  }
}
