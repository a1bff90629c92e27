import { runConcurrency } from '../../../express/test/contract/run-concurrency.js';
import { postgresKind } from './postgres-kind.js';

runConcurrency([postgresKind()]);
