"""Every sentence the command line says by itself, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CATALOGUE: Mapping[str, tuple[str, str]] = {
    # --- Everywhere ---
    "list.separator": (", ", "，"),
    "next": ("Next: ", "下一步："),
    "next.add": ("add PATH", "add 路径"),
    "next.ask": ('ask "your question"', 'ask "你的问题"'),
    "note": ("note: ", "注意："),
    "hint": ("hint: ", "提示："),
    "yes": ("yes", "是"),
    "no": ("no", "否"),
    "usage": ("{reason}", "命令写得不对：{reason}"),
    "usage.hint": ("`{command}` shows how it is used.", "`{command}` 说明用法。"),
    "interrupted": ("Interrupted.", "已中断。"),
    "interrupted.left": (
        "Stopped. Nothing is lost; left to do: {files} file{files:s} to read, {passages} passage{passages:s} to embed.",
        "已停止，没有丢失任何内容。还剩 {files} 个文件待读取，{passages} 个段落待生成向量。",
    ),
    "interrupted.hint": ("`{command}` goes on where this stopped.", "`{command}` 从停下的地方继续。"),
    "interrupted.again": (
        "Type the same command again: it takes in what is missing and goes on with the rest.",
        "再次输入同一命令：它会补上缺少的文件，并继续处理其余任务。",
    ),
    # --- Taking in ---
    "init.made": ("Made a library in ", "已建立资料库："),
    "init.existed": ("There is already a library in ", "这里已有资料库："),
    "add.summary": ('Knowledge base "{kb}": {counts}.', "知识库“{kb}”：{counts}。"),
    "add.added": ("{n} added", "新增 {n} 个"),
    "add.updated": ("{n} updated", "更新 {n} 个"),
    "add.unchanged": ("{n} unchanged", "未变 {n} 个"),
    "add.retried": ("{n} retried", "重试 {n} 个"),
    "add.none": ("nothing added", "没有新增"),
    "add.nothing": ("There was no file to add.", "没有可添加的文件。"),
    "add.failed": ("{n} file{n:s} failed:", "{n} 个文件失败："),
    "add.passed-over": ("Passed over: {reasons}.", "略过：{reasons}。"),
    "passed-over.excluded": ("hidden, temporary or excluded", "个隐藏、临时或被排除的项目"),
    "passed-over.unreadable": ("unreadable folder", "个无法读取的文件夹"),
    "add.notices": (
        "{n} document{n:s} came with notices; `{command}` lists them.",
        "{n} 个文档带有提示；`{command}` 查看。",
    ),
    "add.waiting": ("Some of the work is put off:", "部分任务暂缓："),
    "add.semantic-failed": (
        "Words are searchable; semantic search is not available for all of it:",
        "关键词可检索，但部分文档没有语义检索：",
    ),
    "add.queued": ("Stored, and queued to be read. Next: ", "已存入并排队等待读取。下一步："),
    # --- Progress ---
    "progress.reading": ("Reading files (then searchable by keyword)", "读取文件（完成后可用关键词检索）"),
    "progress.embedding": ("Embedding passages (for semantic search)", "生成向量（用于语义检索）"),
    "progress.reading.line": ("reading files: {done} of {total}", "读取文件：{done}/{total}"),
    "progress.embedding.line": (
        "searchable by keyword; embedding passages for semantic search: {done} of {total}",
        "已可用关键词检索；正在生成语义检索的向量：{done}/{total}",
    ),
    "progress.rate": ("{rate}/s", "{rate}/秒"),
    "progress.waiting": ("put off: {reason}", "暂缓：{reason}"),
    # --- Searching and asking ---
    "arm.structured": ("structured", "结构化"),
    "arm.keyword": ("keyword", "关键词"),
    "arm.keyword_rewrite": ("keyword (rewritten)", "关键词（改写）"),
    "arm.vector": ("vector", "向量"),
    "match.hybrid": ("hybrid", "混合"),
    "search.rank": ("{arm} #{rank}", "{arm}第 {rank}"),
    "search.open": ("`{command}` shows a passage where it stands.", "`{command}` 在原处查看一个段落。"),
    "trace": ("Trace {trace}: `{command}`", "检索记录 {trace}：`{command}`"),
    "grounded.likely": (
        "Grounded: likely. Every sentence stands in the documents as quoted.",
        "依据：充分。每句话都是文档原文。",
    ),
    "grounded.unlikely": (
        "Grounded: unlikely. Passages were found, but they do not seem to answer this.",
        "依据：不足。找到了一些段落，但看来没有回答这个问题。",
    ),
    "grounded.none": ("Grounded: none. No passage was found.", "依据：无。没有找到任何段落。"),
    "degraded.vector-partial": (
        "Semantic search could see {seen} of {total} document{total:s}; the others have no vectors yet.",
        "语义检索只能看到 {total} 个文档中的 {seen} 个，其余还没有向量。",
    ),
    "degraded.embed": (
        "Searched without semantic search (embed: {reason}).",
        "本次没有使用语义检索（embed: {reason}）。",
    ),
    "degraded.answer": (
        "Sentences were chosen by their words alone (answer: {reason}).",
        "句子只按词语选出（answer: {reason}）。",
    ),
    "anchor.lines": ("line{n:s} {span}", "第 {span} 行"),
    "anchor.page": ("page{n:s} {span}", "第 {span} 页"),
    "anchor.slide": ("slide{n:s} {span}", "第 {span} 张幻灯片"),
    "anchor.cells": ("row{n:s} {span}", "表格第 {span} 行"),
    "anchor.paragraph": ("paragraph{n:s} {span}", "第 {span} 段"),
    "anchor.chapter": ("chapter{n:s} {span}", "第 {span} 章"),
    "exactness.about": ("about it", "专讲此事"),
    "exactness.mentions": ("mentions it", "提到此事"),
    # --- Explaining ---
    "explain.question": ("Question: ", "问题："),
    "explain.trace": ("Trace: ", "检索记录："),
    "explain.searched": ("Searched: ", "检索范围："),
    "explain.reading": ("What was read from the question", "从问题中读出"),
    "explain.date": ("date: ", "日期："),
    "explain.versions": ("versions: ", "版本："),
    "explain.codes": ("codes: ", "代号："),
    "explain.phrases": ("phrases: ", "短语："),
    "explain.names": ("names: ", "名称："),
    "explain.excluded": ("excluded: ", "排除："),
    "explain.tokens": ("words: ", "词语："),
    "explain.aliases": ("aliases: ", "统一写法："),
    "explain.notes": ("notes: ", "附注："),
    "explain.language": ("language: ", "语言："),
    "explain.stages": ("Stages", "各阶段"),
    "explain.stage": ("stage", "阶段"),
    "explain.start": ("start", "开始"),
    "explain.count": ("count", "数量"),
    "explain.status": ("status", "状态"),
    "explain.model": ("model: ", "模型："),
    "explain.candidates": ('Candidates in "{kb}", list by list', "“{kb}”中各列表的候选"),
    "explain.no-candidates": ("No list found anything.", "各列表都没有找到内容。"),
    "explain.best-similarity": ("Best similarity seen: {best}", "见到的最高相似度：{best}"),
    "explain.dropped": ("Dropped", "舍去"),
    "explain.hits": ("Final hits", "最终结果"),
    "explain.score": ("score {score}", "得分 {score}"),
    "explain.why-empty": ("Why empty: ", "为何为空："),
    "explain.rewritten": ("Rewritten: ", "改写为："),
    "explain.as-of": ("valid on: ", "有效于："),
    "explain.frequencies": ('Passages of {size} in "{kb}" that hold each', "“{kb}”的 {size} 段中含有各词的段数"),
    "explain.weighed": ("What the candidates are worth", "候选的份量"),
    "explain.hit": ("hit", "结果"),
    "explain.document": ("document", "文档"),
    "explain.weighed.score": ("score", "得分"),
    "explain.weighed.covered": ("words", "词语"),
    "explain.weighed.sentence": ("one sentence", "单句"),
    "explain.weighed.cosine": ("cosine", "余弦"),
    "explain.weighed.exactness": ("exact", "确切"),
    "explain.grounding": ("Can it be answered from this? ", "能据此回答吗？"),
    "explain.grounding.likely": ("likely ({value})", "很可能（{value}）"),
    "explain.grounding.unlikely": ("unlikely ({value})", "不太可能（{value}）"),
    "explain.missing": ("Nothing found holds: {what}", "找到的内容都不含：{what}"),
    "explain.matched": ("holds: ", "含有："),
    "explain.no-hits": ("None.", "无。"),
    # --- Knowledge bases ---
    "kb.created": ('Made the knowledge base "{name}".', "已建立知识库“{name}”。"),
    "kb.archived": ('Archived "{name}"; it is no longer searched.', "已归档“{name}”，不再被检索。"),
    "kb.restored": ('"{name}" is back and will be searched.', "“{name}”已恢复，可被检索。"),
    "kb.deleted": ('Deleted "{name}"; your own files are untouched.', "已删除“{name}”，你自己的文件没有变动。"),
    "kb.delete-confirm": ('Delete "{name}" with {n} document{n:s}? [y/N]', "删除“{name}”及其 {n} 个文档？[y/N]"),
    "kb.no-model": ("keyword search alone", "仅关键词检索"),
    "kb.semantic": ("{done} of {total} document{total:s}", "{total} 个文档中的 {done} 个"),
    "kb.chunking": ("{n} column{n:s} a passage, {overlap} repeated", "每段 {n} 列，重复 {overlap} 列"),
    "kb.behind": (
        "{n} document{n:s} read by older rules, and found by those until the next worker reads them again: ",
        "{n} 个文档是按旧规则读取的，在下一个工作进程重新读取之前仍按旧规则检索：",
    ),
    "kb.nothing-to-reread": ("No document needs to be read again.", "没有需要重新读取的文档。"),
    "kb.to-reread": ("{n} document{n:s} to read again: ", "{n} 个文档待重新读取："),
    "kb.reread": ("{n} document{n:s} read again.", "已重新读取 {n} 个文档。"),
    "kb.no-words": ("There are none.", "还没有。"),
    "kb.state.active": ("active", "使用中"),
    "kb.state.archived": ("archived", "已归档"),
    # --- Documents ---
    "docs.none": ("No documents here yet. Next: ", "这里还没有文档。下一步："),
    "docs.updating": ("updating ({state})", "更新中（{state}）"),
    "docs.size": (
        "{size} byte{size:s}, {chunks} passage{chunks:s}, {length} character{length:s} of text",
        "{size} 字节，{chunks} 个段落，{length} 个字符",
    ),
    "docs.enabled": ("{name} can be found again.", "{name} 可被检索。"),
    "docs.disabled": ("{name} is switched off: it is kept, but not found.", "{name} 已停用：保留，但不会被检索到。"),
    "docs.cancelled": ("Work on {name} is stopped.", "已停止处理 {name}。"),
    "docs.deleted": (
        "Deleted {name} from the library; your own file is untouched.",
        "已从资料库删除 {name}，你自己的文件没有变动。",
    ),
    "docs.changed-since": (
        "The document has changed since; this is the text as it was cited.",
        "文档之后有改动；这里显示的是当时引用的文字。",
    ),
    "state.pending": ("queued", "排队"),
    "state.processing": ("reading", "读取中"),
    "state.ready": ("ready", "就绪"),
    "state.failed": ("failed", "失败"),
    "state.cancelled": ("cancelled", "已取消"),
    "state.disabled": ("disabled", "已停用"),
    "semantic.pending": ("pending", "待生成"),
    "semantic.ready": ("ready", "就绪"),
    "semantic.failed": ("failed", "失败"),
    # --- Preview ---
    "preview.blocks": ("Blocks: ", "内容块："),
    "preview.chunks": (
        "{n} passage{n:s} of about {columns} column{columns:s}, {overlap} repeated",
        "{n} 个段落，每段约 {columns} 列，重复 {overlap} 列",
    ),
    "preview.lengths": (
        "{total} character{total:s} of text; passages have {shortest} to {longest}, {mean} on average",
        "共 {total} 个字符；段落长 {shortest} 到 {longest}，平均 {mean}",
    ),
    "preview.samples": ("{n} of them, spread over the file:", "其中 {n} 个，取自文件各处："),
    # --- Jobs and worker ---
    "jobs.none": ("There are no jobs.", "没有任务。"),
    "job.kind.ingest": ("read", "读取"),
    "job.kind.embed": ("embed", "生成向量"),
    "job.kind.reread": ("read again", "重新读取"),
    "job.kind.purge": ("purge", "清除"),
    "job.queued": ("queued", "排队"),
    "job.running": ("running", "进行中"),
    "job.waiting": ("put off", "暂缓"),
    "job.done": ("done", "完成"),
    "job.failed": ("failed", "失败"),
    "job.cancelled": ("cancelled", "已取消"),
    "job.cancelling": ("being cancelled", "正在取消"),
    "worker.started": ("Working for {library}; Ctrl-C stops it.", "正在处理 {library} 的任务；按 Ctrl-C 停止。"),
    "worker.drained": ("{n} job{n:s} done; nothing is left to do now.", "完成 {n} 个任务，目前没有别的任务。"),
    "worker.bounded": ("{n} job{n:s} done; there is more to do.", "完成 {n} 个任务，还有任务未做。"),
    "worker.failed": ("{n} job{n:s} failed: ", "{n} 个任务失败："),
    # --- Upkeep ---
    "check.fine": ("Everything in the library holds together.", "资料库一切完好。"),
    "doctor.fine": ("Everything Wenyuan needs is here.", "Wenyuan 所需的一切都已具备。"),
    # --- Evaluation ---
    "eval.asking": ("Asking", "提问"),
    "eval.asking.line": ("asked {done} of {total}", "已提问 {done}/{total}"),
    "eval.interrupted": (
        "Stopped after {done} of {total} questions. They are kept as the incomplete run {run}.",
        "已停止，完成 {total} 个问题中的 {done} 个，结果保存为未完成的评测 {run}。",
    ),
    "eval.added": ("Added the case {id} to {path}.", "已把问题 {id} 加到 {path}。"),
    "eval.import-failed": (
        "{n} document{n:s} could not be read; `{command}` tells why.",
        "{n} 个文档无法读取；`{command}` 说明原因。",
    ),
    "eval.deleted": ("Forgot the run {run}.", "已删除评测 {run}。"),
    "eval.none": ("There are no runs yet. Next: ", "还没有评测记录。下一步："),
    "eval.passed": ("{name}: {passed} of {cases} question{cases:s} passed", "{name}：{cases} 个问题通过 {passed} 个"),
    "eval.incomplete": (" (incomplete)", "（未完成）"),
    "eval.run": ("Run {run}", "评测记录 {run}"),
    "eval.all": ("all", "全部"),
    "eval.tag": ("{name}", "{name}"),
    "eval.language": ("in {name}", "语言 {name}"),
    "eval.lists": ("What each list did", "各列表的表现"),
    "eval.alone": ("{arm}, searched alone", "仅用{arm}"),
    "eval.nothing": ("Questions with nothing to find", "没有答案的问题"),
    "eval.verdicts": (
        'Judged rightly: "likely" for {likely} of {answerable} with an answer, "unlikely" for {unlikely} of '
        "{nothing} without.",
        "判断正确：有答案的 {answerable} 个中 {likely} 个判为“充分”，"
        "没有答案的 {nothing} 个中 {unlikely} 个判为“不足”。",
    ),
    "eval.time": ("Milliseconds, half of the questions and 95 of 100", "毫秒（中位数与 95 百分位）"),
    "eval.time.stage": ("{stage} {p50:.1f} / {p95:.1f}", "{stage} {p50:.1f} / {p95:.1f}"),
    "eval.degraded": ("{n} question{n:s} without: ", "{n} 个问题缺少："),
    "eval.errors": ("{n} question{n:s} could not be asked: ", "{n} 个问题无法提问："),
    "eval.missing": (
        "Of {n} question{n:s}, something that is expected is not in the library or cannot be found now.",
        "{n} 个问题所期望的内容不在资料库里，或目前不可检索。",
    ),
    "eval.not-passed": ("Not passed ({shown} of {n})", "未通过（显示 {n} 个中的 {shown} 个）"),
    "eval.not-there": ("{name} (not in the library)", "{name}（不在资料库里）"),
    "eval.expects": ("expected: ", "期望："),
    "eval.nothing-expected": ("nothing", "没有答案"),
    "eval.found-instead": ("found: ", "找到："),
    "eval.rank": ("at {rank}", "第 {rank}"),
    "eval.not-found": ("not found", "未找到"),
    "eval.compared": (
        "Compared with {before}: {compared} question{compared:s}, {worse} worse, {better} better",
        "与 {before} 相比：共 {compared} 个问题，变差 {worse} 个，变好 {better} 个",
    ),
    "eval.uncompared": (
        "{n} question{n:s} are in one of the two runs alone, or were rewritten, and are left out.",
        "{n} 个问题只在其中一次评测里，或改写过，没有比较。",
    ),
    "eval.setting": ("{name}: {before} → {after}", "{name}：{before} → {after}"),
    "eval.settings": ("Settings that differ", "不同的设置"),
    "eval.worse": ("Worse ({shown} of {n})", "变差（显示 {n} 个中的 {shown} 个）"),
    "eval.better": ("Better ({shown} of {n})", "变好（显示 {n} 个中的 {shown} 个）"),
    "eval.unchanged": ("Nothing changed.", "没有变化。"),
    "eval.failed": ("Not good enough:", "没有达到要求："),
    "eval.failed.below": ("{subject} is {value:.3f}, below {bound:g}", "{subject} 为 {value:.3f}，低于 {bound:g}"),
    "eval.failed.dropped": (
        "{subject} dropped from {bound:.3f} to {value:.3f} (p = {p:.3f})",
        "{subject} 从 {bound:.3f} 降到 {value:.3f}（p = {p:.3f}）",
    ),
    "eval.failed.case": ("{subject} passed before and fails now", "{subject} 以前通过，现在不通过"),
    # --- Columns ---
    "column.after": ("after", "之后"),
    "column.before": ("before", "之前"),
    "column.cases": ("questions", "问题数"),
    "column.change": ("change", "变化"),
    "column.found": ("found", "找到"),
    "column.found-alone": ("found alone", "独自找到"),
    "column.group": ("group", "分组"),
    "column.list": ("list", "列表"),
    "column.measure": ("measure", "指标"),
    "column.passed": ("passed", "通过"),
    "column.set": ("set", "评测集"),
    "column.attempts": ("attempts", "次数"),
    "column.chunking": ("passages", "分段"),
    "column.chunks": ("passages", "段落"),
    "column.created": ("created", "创建"),
    "column.description": ("description", "说明"),
    "column.documents": ("documents", "文档"),
    "column.finished": ("finished", "结束"),
    "column.id": ("id", "编号"),
    "column.job": ("job", "任务"),
    "column.kb": ("knowledge base", "知识库"),
    "column.model": ("embedding model", "向量模型"),
    "column.name": ("name", "名称"),
    "column.notices": ("notices", "提示"),
    "column.progress": ("progress", "进度"),
    "column.reason": ("reason", "原因"),
    "column.searchable": ("searchable", "可检索"),
    "column.semantic": ("semantic", "语义"),
    "column.size": ("size", "大小"),
    "column.source": ("source", "来源"),
    "column.terms": ("terms", "词条"),
    "column.synonyms": ("groups of synonyms", "同义词组"),
    "column.stage": ("stage", "阶段"),
    "column.started": ("started", "开始"),
    "column.state": ("state", "状态"),
    "column.tags": ("tags", "标签"),
    "column.title": ("title", "标题"),
    "column.type": ("type", "类型"),
}


class _Number(int):
    """A number in a sentence: `{n:s}` is the plural's ending, nothing for one."""

    def __format__(self, specification: str) -> str:
        if specification == "s":
            return "" if self == 1 else "s"
        return super().__format__(specification)


@dataclass(frozen=True, slots=True)
class Messages:
    """Says things in one language."""

    chinese: bool

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> Messages:
        """Chinese if `WENYUAN_LANG`, or else the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set, says so."""
        names = ("WENYUAN_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
        chosen = next((environment[name] for name in names if environment.get(name)), "")
        return cls(chosen.casefold().startswith("zh"))

    def __call__(self, key: str, **details: Any) -> str:
        template = CATALOGUE[key][self.chinese]
        counted = {
            name: _Number(value) if isinstance(value, int) and not isinstance(value, bool) else value
            for name, value in details.items()
        }
        return template.format_map(counted)
