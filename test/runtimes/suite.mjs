// What must hold on every JavaScript runtime: the conformance suites on memory, the public client specification, and the
// router over real HTTP. Runs on the compiled packages: `node suite.mjs`, `bun suite.mjs`, `deno run -A suite.mjs`.
import './plain-runner.mjs';
import { memoryMetrics, memoryStorage } from '../../packages/core/dist/index.js';
import { metricsConformance, storageConformance } from '../../packages/core/dist/testing.js';
import { runAll } from './plain-runner.mjs';
import { declareRouterCases } from './router-cases.mjs';
import { declareSpecificationCases } from './specification-cases.mjs';

storageConformance('memoryStorage', () => ({ storage: memoryStorage() }));
metricsConformance('memoryMetrics', () => ({ metrics: memoryMetrics() }));
declareSpecificationCases();
declareRouterCases();
await runAll();
