import { mkdirSync, mkdtempSync, rmSync, chownSync } from 'node:fs'
import { openSessions } from './src-main/session/index.ts'
import { openStore } from './src-main/store/index.ts'
const d = mkdtempSync('/tmp/lead/p-'); mkdirSync(d+'/home',{mode:0o700}); mkdirSync(d+'/ws'); chownSync(d+'/ws',1000,1000)
const store = openStore(d+'/home/store.db')
const ss = await openSessions({home:d+'/home',store})
await ss.create({name:'x',workspace:d+'/ws',explicit:true,create:false,force:true,engine:'local',mode:'interactive',base:'live',network:true,env:{}})
const s = ss.find('x')
const write=(t:string)=>s.write({path:'counter',content:t,encoding:'utf-8',tool:null})
const m=(x:number[])=>x.sort((q,w)=>q-w)[x.length>>1]!.toFixed(2)
const C:number[]=[],R:number[]=[]
for(let i=0;i<10;i++){await write('a'+i);const t=performance.now();await s.checkpoint({label:'p'+i,why:null,messages:null,takenBy:'you'});C.push(performance.now()-t)}
if(process.argv[2]==='run'){ let n=0; for(let i=0;i<300;i++){const t=performance.now();const id='b'+n++;await s.startCommand({id,command:['true'],cwd:null,env:{},stdin:null,timeoutMs:null,asTool:false,tool:null});await s.waitCommand({id});R.push(performance.now()-t)} }
else for(let i=0;i<Number(process.argv[3]??300);i++){await write('b'+i);const t=performance.now();await s.rollback({to:'p9',only:null,patchNotes:null});R.push(performance.now()-t)}
console.log('ckpt',m(C),process.argv[2],m(R))
await s.destroy();await ss.close();store.close();rmSync(d,{recursive:true})
