// Drives Function Compute with the published Node SDK and prints what came back as one JSON object.
const { Readable } = require('stream');
const fc = require('@alicloud/fc20230330');
const { Config } = require('@alicloud/openapi-client');

async function text(body) {
  const parts = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function main() {
  const endpoint = process.env.FC_ENDPOINT.replace('http://', '');
  const client = new fc.default(new Config({ endpoint, protocol: 'http', accessKeyId: 'id', accessKeySecret: 'x', regionId: 'cn-hangzhou' }));
  const seen = {};
  const code = new fc.InputCodeLocation({ zipFile: process.env.ZIP });
  const input = new fc.CreateFunctionInput({ functionName: 'f', runtime: 'python3.10', handler: 'index.handler', timeout: 20, code });
  seen.created = (await client.createFunction(new fc.CreateFunctionRequest({ body: input }))).body.functionName;
  const answer = await client.invokeFunction('f', new fc.InvokeFunctionRequest({ body: Readable.from([Buffer.from('{"x":'), Buffer.from('1}')]) }));
  seen.status = answer.statusCode;
  seen.body = await text(answer.body);
  const failed = await client.invokeFunction('f', new fc.InvokeFunctionRequest({ body: Readable.from([Buffer.from('fail')]) }));
  seen.failedStatus = failed.statusCode;
  seen.errorType = failed.headers['x-fc-error-type'];
  seen.missing = await client.getFunction('none', new fc.GetFunctionRequest({})).catch((e) => e.code);
  console.log(JSON.stringify(seen));
}

main().catch((error) => { console.error(error); process.exit(1); });
