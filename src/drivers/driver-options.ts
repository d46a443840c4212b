/** What an option takes: one of these words, or a type; null where that is checked elsewhere. */
type Rule = readonly string[] | "boolean" | "milliseconds" | null;

/** Checks the options of a driver, so that a misspelt one is not ignored. @throws {TypeError} naming the option. */
export function checkOptions(driver: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined;
    if (rule === undefined) {
      throw new TypeError(`${driver} has no option "${option}"; it takes ${Object.keys(rules).join(", ")}`);
    }
    if (value !== undefined && rule !== null && !fits(value, rule)) {
      const wanted = typeof rule === "string" ? `of type ${rule}` : `one of ${rule.join(", ")}`;
      throw new TypeError(`${option} of ${driver} must be ${wanted}`);
    }
  }
}

function fits(value: unknown, rule: NonNullable<Rule>): boolean {
  if (rule === "milliseconds") return Number.isSafeInteger(value) && (value as number) >= 0;
  return typeof rule === "string" ? typeof value === rule : rule.includes(value as string);
}
