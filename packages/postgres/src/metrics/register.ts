import type { ApplicationRegistration, DroppedMetrics } from '@flags/core';
import { markStatement } from '../stamp/marks.js';
import { toStoredText } from '../stored-text.js';
import type { Limiting, RecordingParts } from './record.js';
import type { Turns } from './turns.js';

/** Creates or renews an application and its instance in one statement, which may be carried out twice. */
export function registering({ database, names, turns, admission, trimming }: RecordingParts & Limiting) {
  const text = registerStatement(names, turns);
  return async (registration: ApplicationRegistration): Promise<DroppedMetrics> => {
    const { application, instance, at } = registration;
    if (!(await admission.admit([application])).has(application)) return { names: 0, reports: 1 };
    await database.write({ text, values: valuesOf(registration) });
    const row = { application, id: instance.id, clientIp: null, sdkVersion: null, createdAt: at, seenAt: at };
    await trimming.trim({ instances: [row], unknownNames: [] });
    return { names: 0, reports: 0 };
  };
}

function registerStatement(names: RecordingParts['names'], turns: Turns): string {
  const { table } = names;
  return `
WITH ${turns.shared},
applications AS (
  INSERT INTO ${table('applications')} AS known (name, strategies, description, url, color, icon, created_at)
  SELECT $1, $2, coalesce($3, ''), coalesce($4, ''), $5, coalesce($6, ''), $7::bigint FROM turn
  ON CONFLICT (name) DO UPDATE SET
    strategies = $2,
    description = coalesce($3, known.description),
    url = coalesce($4, known.url),
    color = CASE WHEN $8::boolean THEN known.color ELSE $5 END,
    icon = coalesce($6, known.icon)
  RETURNING name
),
instances AS (
  INSERT INTO ${table('instances')} AS known (application, id, client_ip, sdk_version, created_at, seen_at)
  SELECT name, $9, $10, $11, $7::bigint, $7::bigint FROM applications
  ON CONFLICT (application, id) DO UPDATE SET
    client_ip = coalesce(excluded.client_ip, known.client_ip),
    sdk_version = coalesce(excluded.sdk_version, known.sdk_version),
    seen_at = greatest(known.seen_at, excluded.seen_at)
  RETURNING 1
)
${markStatement(names, ['instances'])}`;
}

function valuesOf({ instance, at, strategies, color, ...texts }: ApplicationRegistration): unknown[] {
  return [
    toStoredText(texts.application),
    toStoredText(JSON.stringify(strategies)),
    storedOrNull(texts.description),
    storedOrNull(texts.url),
    storedOrNull(color),
    storedOrNull(texts.icon),
    at,
    color === undefined,
    toStoredText(instance.id),
    storedOrNull(instance.clientIp),
    storedOrNull(instance.sdkVersion),
  ];
}

function storedOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null ? null : toStoredText(text);
}
