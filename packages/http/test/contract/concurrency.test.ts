import { STORAGES } from '../../../core/test/storage-kinds.js';
import { runConcurrency } from './run-concurrency.js';

runConcurrency(STORAGES);
