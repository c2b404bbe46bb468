// Reads {"definition", "input"} from standard input, runs it once, prints {"seconds", "peak_mib"}.
import { readFileSync } from 'node:fs';
import { StateMachine } from 'aws-local-stepfunctions';

const { definition, input } = JSON.parse(readFileSync(0, 'utf8'));
const machine = new StateMachine(definition);
const started = performance.now();
await machine.run(input).result;
const seconds = (performance.now() - started) / 1000;
console.log(JSON.stringify({ seconds, peak_mib: process.resourceUsage().maxRSS / 1024 }));
