// The names in a printed surface, to compare it with that of the last release.

/** Names by where they are: `wadi/pg`, `wadi Wadi`, `wadi Wadi.submit`. */
export function namesIn(surface: string): Set<string> {
  const names = new Set<string>();
  let [entry, owner] = ["", ""];
  for (const line of surface.split("\n\n").slice(1).join("\n").split("\n")) {
    const [, indent, text] = /^( *)(.*)$/.exec(line)!;
    if (indent === "" && text !== "") {
      entry = text!;
      names.add(entry);
    }
    if (indent?.length === 2) {
      owner = /^(?:(?:class|interface|type|const|function) )?([\w$]+)/.exec(text!)![1]!;
      names.add(`${entry} ${owner}`);
    }
    const member = /^(?:(?:readonly|static|get|set) )*([\w$]+)/.exec(text!)?.[1];
    if (indent?.length === 4 && member !== undefined) names.add(`${entry} ${owner}.${member}`);
  }
  return names;
}

/** What was added or removed; the members of something that is new or gone are not listed again. */
export function changedNames(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  const changed = new Set([
    ...[...before].filter((path) => !after.has(path)),
    ...[...after].filter((path) => !before.has(path)),
  ]);
  return [...changed].filter((path) => {
    const [entry, name] = path.split(" ");
    const parents = name?.includes(".") ? [entry!, `${entry} ${name.split(".")[0]}`] : name ? [entry!] : [];
    return !parents.some((parent) => changed.has(parent));
  });
}

/** One line for each export, with its members: `wadi Wadi: call cancel ...`. */
export function formatNames(names: ReadonlySet<string>): string {
  const lines = new Map<string, string[]>();
  for (const path of names) {
    const [owner, member] = path.split(/(?<= .*)\./);
    lines.set(owner!, [...(lines.get(owner!) ?? []), ...(member === undefined ? [] : [member])]);
  }
  const text = [...lines].map(([owner, members]) =>
    members.length > 0 ? `${owner}: ${members.join(" ")}` : owner,
  );
  return `${text.sort().join("\n")}\n`;
}

export function parseNames(text: string): Set<string> {
  const paths = text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const [owner, members] = line.split(": ");
      return [owner!, ...(members?.split(" ").map((member) => `${owner}.${member}`) ?? [])];
    });
  return new Set(paths);
}
