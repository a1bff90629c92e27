import { basename } from 'node:path';
import type { StorageKind } from '../../../core/test/rules/rule-storages.js';
import { emptiedStorages } from '../emptied-storage.js';

const empty = emptiedStorages();

/** In the place of those that the rules of the core are run on. */
export const STORAGES: readonly StorageKind[] = [{ name: 'PostgreSQL', open: (file) => empty(basename(file)) }];
