import { type ErrorCode, type Flags, type FlagsEvent, isFlagsError, memoryStorage, openFlags } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { storageConformance } from '@flags/core/testing';
import { createFlagsRouter, flagsMiddleware } from '@flags/express';
import '@flags/express/request';
import { createFlagsApi, toFetchHandler, toNodeHandler } from '@flags/http';
import { createFlagsProvider } from '@flags/openfeature';
import { instrumentFlags, instrumentStorage } from '@flags/opentelemetry';
import { migrationSql, type PgPool, postgresStorage } from '@flags/postgres';
import { OpenFeature } from '@openfeature/server-sdk';
import express from 'express';

const flags: Flags = await openFlags({ storage: instrumentStorage(memoryStorage()) });
instrumentFlags(flags, { isCounted: (flag) => flag !== 'packed' });
flags.subscribe((event: FlagsEvent) => console.log(event.type));
const app = express().use(createFlagsRouter(flags, { auth: 'none' }));
app.use(flagsMiddleware(flags, ({ ip }) => ({ remoteAddress: ip })));
export const onNode = toNodeHandler(createFlagsApi(flags, { auth: 'none' }));
export const onFetch = toFetchHandler(
  createFlagsApi(flags, { auth: (request: Request) => ({ name: request.headers.get('x-user') ?? 'nobody' }) }),
);
app.get('/', (request, response) => void response.json(request.flags.isEnabled('packed')));
await OpenFeature.setProviderAndWait(createFlagsProvider(flags, { onTrack: ({ name }) => console.log(name) }));

export const exactly: (error: unknown) => ErrorCode | undefined = (error) =>
  isFlagsError(error) ? error.code : undefined;
export const many = (pool: PgPool) => openFlags({ storage: postgresStorage({ pool, schema: 'flags' }) });
export { migrationSql, sqliteStorage, storageConformance };
