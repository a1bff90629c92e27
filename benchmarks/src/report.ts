const HEAD = `# Benchmarks

Every figure of a table was taken in one run on one machine, which is named below it with the date and with its load before
the run: 0 where nothing else was running. Other machines give other figures; the ratios are what can be compared.

\`\`\`sh
npm run bench                    # all that need nothing but npm; takes some minutes, on a machine that does nothing else
npm run bench storage growth     # some of them; the others stay in this document as they are
\`\`\`

What is measured, and how, is told in [benchmarks/README.md](../benchmarks/README.md). This document is written by the
command: edit the programs, not the tables.
`;

/** The report with a benchmark's section put in its place; the sections of others stay as they were. */
export function reportWith(
  report: string,
  { name, section, order }: { readonly name: string; readonly section: string; readonly order: readonly string[] },
): string {
  const sections = new Map(order.map((one) => [one, sectionOf(report, one)]));
  sections.set(name, section);
  const present = order.filter((one) => sections.get(one) !== undefined);
  return [HEAD, ...present.map((one) => `${opening(one)}\n\n${sections.get(one)}\n\n${closing(one)}\n`)].join('\n');
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
