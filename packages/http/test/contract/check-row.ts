import type { Flags } from '@flags/core';
import { ERROR_KINDS } from '../../src/messages/errors.js';
import type { ContractHost } from './contract-host.js';
import type { DocumentedCheck } from './documented.js';
import { everythingIn } from './everything.js';
import type { Expectation, Row } from './row.js';
import { type SentResponse, send } from './send.js';

/** The state of a host after its latest row, if that was refused: it is the state before the next one. */
const states = new WeakMap<Flags, unknown>();

/** Tests one row of the table on a host in the given state. */
export async function checkRow(
  { request, expect: expected }: Row,
  { app, flags, faults }: ContractHost,
  checkDocumented: DocumentedCheck,
): Promise<void> {
  const changesNothing = expected.code !== undefined || expected.unchanged;
  const before = changesNothing && (states.get(flags) ?? (await everythingIn(flags)));
  states.delete(flags);
  const response = await send(app, request);
  checkAnswer(response, expected);
  checkDocumented({ ...request, response });
  if (changesNothing) {
    const after = await everythingIn(flags);
    expect(after).toEqual(before);
    if (expected.afterwards === undefined) states.set(flags, after);
  }
  await expected.afterwards?.(flags);
  expect(faults).toEqual([]);
}

function checkAnswer(response: SentResponse, { status, code, body, headers = {} }: Expectation): void {
  if (response.status !== status) throw new Error(`${status} was expected, not ${response.status} ${response.text}`);
  if (code !== undefined && !hasBodyOfItsOwn(response)) {
    expect(response.body).toMatchObject({ code, name: ERROR_KINDS[code].name, message: expect.stringMatching(/\w/) });
  }
  if (body === null) expect(response.text).toBe('');
  else if (body !== undefined) expect(JSON.parse(response.text)).toEqual(body);
  for (const [name, part] of Object.entries(headers)) expect(response.get(name)).toContain(part);
}

/** The member endpoints, and those of OFREP, refuse in the words of their own contracts. */
function hasBodyOfItsOwn({ body }: SentResponse): boolean {
  return Array.isArray(body) || 'errorCode' in body;
}
