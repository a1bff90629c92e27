import { createFlags, type ErrorCode, type Flags, type FlagsEvent, isFlagsError, memoryStorage } from '@flags/core';
import { sqliteStorage } from '@flags/core/sqlite';
import { storageConformance } from '@flags/core/testing';
import { createFlagsRouter } from '@flags/express';
import { createFlagsProvider } from '@flags/openfeature';
import { OpenFeature } from '@openfeature/server-sdk';
import express from 'express';

const flags: Flags = await createFlags({ storage: memoryStorage() });
flags.subscribe((event: FlagsEvent) => console.log(event.type));
express().use(createFlagsRouter(flags, { auth: 'none' }));
await OpenFeature.setProviderAndWait(createFlagsProvider(flags, { onTrack: ({ name }) => console.log(name) }));

export const exactly: (error: unknown) => ErrorCode | undefined = (error) =>
  isFlagsError(error) ? error.code : undefined;
export { sqliteStorage, storageConformance };
