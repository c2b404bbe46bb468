// Drives CloudFlow with the published Node SDK and prints what came back as one JSON object.
const Client = require('@alicloud/fnf-2019-03-15');

async function main() {
  const client = new Client({ endpoint: process.env.FNF_ENDPOINT, accessKeyId: 'id', accessKeySecret: process.env.SECRET || 'x' });
  const seen = {};
  const definition = process.env.DEFINITION;
  seen.created = (await client.createFlow({ Name: 'f', Definition: definition, Description: '文 + /', Type: 'FDL' })).Name;
  seen.again = await client.createFlow({ Name: 'f', Definition: definition, Description: '', Type: 'FDL' }).catch((e) => e.code);
  seen.started = (await client.startExecution({ FlowName: 'f', ExecutionName: 'e', Input: '{"x": "文"}' })).Name;
  const ended = await client.describeExecution({ FlowName: 'f', ExecutionName: 'e', WaitTimeSeconds: 2 });
  seen.status = ended.Status;
  seen.output = ended.Output;
  seen.events = (await client.getExecutionHistory({ FlowName: 'f', ExecutionName: 'e' })).Events.length;
  seen.report = await client.reportTaskSucceeded({ TaskToken: 'a+b/=', Output: '{}' }).catch((e) => [e.code, e.data.Message]);
  await client.createSchedule({ FlowName: 'f', ScheduleName: 's', CronExpression: '@every 5m', Enable: false });
  seen.schedules = (await client.listSchedules({ FlowName: 'f' })).Schedules.length;
  await client.deleteSchedule({ FlowName: 'f', ScheduleName: 's' });
  await client.deleteFlow({ Name: 'f' });
  seen.gone = await client.describeFlow({ Name: 'f' }).catch((e) => e.code);
  console.log(JSON.stringify(seen));
}

main().catch((error) => { console.error(error); process.exit(1); });
