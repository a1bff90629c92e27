const HEAD = `# Benchmarks

What this library costs, beside its limits and its peers. Compare the ratios: other machines give other figures.

All figures of a table come from one run on one machine. The line below the table names the date, the machine and its load before the
run; 0 means that nothing else was running.

\`\`\`sh
npm run bench                    # every benchmark that needs only npm; some minutes, on a machine without other load
npm run bench storage growth     # some benchmarks; the other sections of this page stay as they are
\`\`\`

[benchmarks/README.md](../benchmarks/README.md) says what is measured and how. The command writes this page: edit the programs, not
the tables.
`;

/** The report with a benchmark's section put in its place; the sections of others stay as they were. */
export function reportWith(
  report: string,
  { name, section, order }: { readonly name: string; readonly section: string; readonly order: readonly string[] },
): string {
  const sections = new Map(order.map((one) => [one, sectionOf(report, one)]));
  sections.set(name, section);
  const present = order.filter((one) => sections.get(one) !== undefined);
  const texts = present.map((one) => `${opening(one)}\n\n${sections.get(one)}\n\n${closing(one)}\n`);
  return [HEAD, ...texts, ...appendix(report, order)].join('\n');
}

/** What people have written behind the last section. */
function appendix(report: string, order: readonly string[]): readonly string[] {
  const last = order.findLast((one) => sectionOf(report, one) !== undefined);
  if (last === undefined) return [];
  const text = report.slice(report.indexOf(closing(last)) + closing(last).length).trim();
  return text === '' ? [] : [`${text}\n`];
}

function sectionOf(report: string, name: string): string | undefined {
  const start = report.indexOf(opening(name));
  const end = report.indexOf(closing(name), start);
  return start < 0 || end < 0 ? undefined : report.slice(start + opening(name).length, end).trim();
}

function opening(name: string): string {
  return `<!-- benchmark: ${name} -->`;
}

function closing(name: string): string {
  return `<!-- end of ${name} -->`;
}
