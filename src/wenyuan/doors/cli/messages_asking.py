"""What the command line says of answers and conversations, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping

ABOUT_ASKING: Mapping[str, tuple[str, str]] = {
    "answer.model": ("Written by {model}.", "由 {model} 撰写。"),
    "answer.likely": (
        "Grounded: likely. What it says stands in the sources it cites.",
        "依据：充分。所说的都在所引来源中。",
    ),
    "answer.unlikely": (
        "Grounded: unlikely. Not everything it says stands in the sources it cites, or it cites none.",
        "依据：不足。有些内容不在所引来源中，或没有引用来源。",
    ),
    "answer.invented": (
        "The model cited {numbers}, which is no source; taken out.",
        "模型引用了不存在的来源 {numbers}，已去掉。",
    ),
    "answer.unsupported": (
        'Not in the sources it cites: "{sentence}"{missing}',
        "所引来源中没有：“{sentence}”{missing}",
    ),
    "answer.missing": (" (missing: {missing})", "（缺少：{missing}）"),
    "answer.stopped": ("Stopped; what was said is kept.", "已停止；已说的部分已保存。"),
    "chat.begun": (
        "Session {session}. Ask, and end with Ctrl-D; /help shows what else there is.",
        "会话 {session}。直接提问，按 Ctrl-D 结束；/help 显示其他命令。",
    ),
    "chat.help": (
        "/files [PATH…]  show what is attached, or attach files\n"
        "/kb [NAME…]     show or choose the knowledge bases that are asked\n"
        "/sources        show the passages of the last answer\n"
        "/again          have the last question answered anew\n"
        "/new            begin another session\n"
        "/quit           end; Ctrl-C stops an answer",
        "/files [路径…]  显示附件，或附上文件\n"
        "/kb [名称…]     显示或选择要问的知识库\n"
        "/sources        显示上一个回答的段落\n"
        "/again          重新回答上一个问题\n"
        "/new            开始新的会话\n"
        "/quit           结束；Ctrl-C 停止回答",
    ),
    "chat.unknown": ("There is no command {command}; /help shows them.", "没有命令 {command}；/help 列出全部命令。"),
    "chat.all-bases": ("All knowledge bases are asked.", "查询所有知识库。"),
    "chat.bases": ("Asked: {names}.", "查询：{names}。"),
    "chat.nothing-asked": ("Nothing was asked yet.", "还没有提问。"),
    "explain.model": ("Model  ", "模型  "),
    "explain.tokens-used": ("{read} tokens read, {written} written", "读取 {read} 个词元，写出 {written} 个"),
    "explain.lookup": ("Looked up in round  ", "查找轮次  "),
    "explain.left-out": ("Left out for want of room  ", "因空间不足而略去  "),
    "sessions.no-turns": ("Nothing was said in this session yet.", "这个会话还没有内容。"),
    "sessions.judged": ("Noted.", "已记下。"),
    "sessions.case": ("Added to the set {name}: {question}", "已加入集合 {name}：{question}"),
    "sessions.replaced": ("replaced by {n}", "已被第 {n} 条替换"),
    "turn.person": ("question", "提问"),
    "turn.assistant": ("answer", "回答"),
}
