import { STORAGES } from './contract-host.js';
import { runConcurrency } from './run-concurrency.js';

runConcurrency(STORAGES);
