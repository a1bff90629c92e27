// The limits, from the docstrings of LIMITS and ROUTER_LIMITS, and from the places of long requests.
import { amount, code, phrase, table } from './markdown.mjs';
import { documentationOf, literalOf, load, memberDocstrings, paragraphsOf } from './source.mjs';

const ENGINE = 'packages/core/src/base/limits.ts';
const ROUTER = 'packages/http/src/limits.ts';
const ADMISSION = 'packages/http/src/api/admission.ts';
const BEYOND = /\bBeyond it:\s(.*?)\.(?=\s|$)\s*/s;

export async function limits() {
  const { LIMITS } = await load(ENGINE);
  const { ROUTER_LIMITS } = await load(ROUTER);
  const docstrings = new Map([
    ...memberDocstrings(ROUTER, 'ROUTER_LIMITS'),
    ...memberDocstrings(ENGINE, 'NUMBERS'),
    ...memberDocstrings('packages/core/src/base/errors.ts', 'ERROR_LIMITS'),
  ]);
  const rows = Object.entries({ ...ROUTER_LIMITS, ...LIMITS }).map(([name, value]) => rowOf(name, value, docstrings));
  const [refused, others] = [true, false].map((isRefused) => rows.filter((row) => row.isRefused === isRefused));
  const notes = rows.flatMap(({ name, notes }) =>
    notes.length > 0 ? [`### ${code(name)}\n\n${notes.join('\n\n')}\n`] : [],
  );
  return `# Limits

${paragraphsOf(documentationOf(ENGINE, 'LIMITS')).join('\n\n')}

${code('LIMITS')} of ${code('@flags/core')} has these numbers, but for the first six, which are limits of the router. Node itself limits the URL and
the headers of a request to 16 KiB together.

## What is refused

A call beyond one of these limits changes nothing.

${table(
  ['Limit', 'At most', 'Of', 'Beyond it'],
  refused.map(({ cells }) => cells),
)}
${notes.join('\n')}
## What is dropped, cut or ignored

A call beyond one of these limits is not refused. ${code('flags.status()')} has the counters ${code('dropped.reports')} and the like.

${table(
  ['Limit', 'At most', 'Of', 'Beyond it'],
  others.map(({ cells }) => cells),
)}
${heavyRequests()}`;
}

function rowOf(name, value, docstrings) {
  const text = docstrings.get(name);
  if (!text) throw new Error(`The limit ${name} has no docstring.`);
  const [meaning, ...notes] = paragraphsOf(text);
  const beyond = BEYOND.exec(meaning)?.[1] ?? '`invalid_input`';
  const cells = [
    code(name),
    amount(value, /^\w+/.exec(meaning)?.[0]),
    phrase(meaning.replace(BEYOND, '').trim()),
    beyond,
  ];
  return { name, cells, notes, isRefused: beyond.startsWith('`') };
}

/** The kinds of long requests, with their places. */
function heavyRequests() {
  const queues = literalOf(ADMISSION, 'QUEUES');
  const docstrings = memberDocstrings(ADMISSION, 'KINDS');
  const rows = Object.entries(literalOf(ADMISSION, 'KINDS')).map(([name, { places, queue, isOnePerActor }]) => {
    const { all, perActor } = queues[queue];
    const most = name === 'body' ? amount(places, 'Bytes') : `${places}`;
    const waiting = Number.isFinite(all)
      ? `${all}, ${perActor} of one caller, then 503 ${code('overloaded')}`
      : 'any number';
    return [phrase(docstrings.get(name)), most, isOnePerActor ? '1' : '', waiting];
  });
  const [intro, ...rest] = paragraphsOf(documentationOf(ADMISSION, 'createAdmission').replace(/^.*?\.\s/, ''));
  return `## Heavy requests

${intro}

${table(['Requests', 'At once', 'Of one caller', 'Waiting'], rows)}
${rest.join('\n\n')}
`;
}
