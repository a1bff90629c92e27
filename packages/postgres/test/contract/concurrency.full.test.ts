import { runConcurrency } from '../../../http/test/contract/run-concurrency.js';
import { postgresKind } from './postgres-kind.js';

runConcurrency([postgresKind()]);
