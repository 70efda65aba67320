/** Files from a drop, with those in the folders among them. */

export interface DroppedFile {
  file: File;
  name: string;
}

const MOST = 20_000;

/** Every file that was dropped, at most 20,000; folders are walked through, hidden files in them are left out. */
export async function droppedFiles(transfer: DataTransfer): Promise<DroppedFile[]> {
  // The list is emptied as soon as the event is over, so that everything is taken from it at once.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length === 0) {
    return chosenFiles(transfer.files);
  }
  const found: DroppedFile[] = [];
  for (const entry of entries) {
    await walk(entry, "", found);
  }
  return found;
}

/** The files that were chosen in a dialog, a folder's with their paths below it. */
export function chosenFiles(files: FileList): DroppedFile[] {
  return [...files].slice(0, MOST).map((file) => ({ file, name: file.webkitRelativePath || file.name }));
}

async function walk(entry: FileSystemEntry, above: string, found: DroppedFile[]): Promise<void> {
  if (found.length >= MOST || (above !== "" && entry.name.startsWith("."))) {
    return;
  }
  const name = above + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, name });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) {
      return;
    }
    for (const one of some) {
      await walk(one, `${name}/`, found);
    }
  }
}
