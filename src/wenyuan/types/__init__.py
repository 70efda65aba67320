"""The nouns: frozen, complete values that every floor shares.

Nothing here reads a file, a clock or a database. Times are integer milliseconds since the Unix
epoch (UTC), days are proleptic Gregorian ordinals (`datetime.date.toordinal`), and every text
offset counts Unicode code points.
"""

from wenyuan.types.generating import GenerationEnd as GenerationEnd
from wenyuan.types.generating import GenerationEndReason as GenerationEndReason
from wenyuan.types.generating import GenerationEvent as GenerationEvent
from wenyuan.types.generating import GenerationRequest as GenerationRequest
from wenyuan.types.generating import GeneratorProfile as GeneratorProfile
from wenyuan.types.generating import Message as Message
from wenyuan.types.generating import MessageRole as MessageRole
from wenyuan.types.generating import RerankerProfile as RerankerProfile
from wenyuan.types.generating import TextPiece as TextPiece
from wenyuan.types.generating import TokenUsage as TokenUsage
from wenyuan.types.generating import Tool as Tool
from wenyuan.types.generating import ToolCall as ToolCall
from wenyuan.types.keeping import ChunkingConfig as ChunkingConfig
from wenyuan.types.keeping import Document as Document
from wenyuan.types.keeping import DocumentPolicy as DocumentPolicy
from wenyuan.types.keeping import DuplicateRule as DuplicateRule
from wenyuan.types.keeping import GenerationState as GenerationState
from wenyuan.types.keeping import IndexGeneration as IndexGeneration
from wenyuan.types.keeping import IndexKind as IndexKind
from wenyuan.types.keeping import Job as Job
from wenyuan.types.keeping import JobKind as JobKind
from wenyuan.types.keeping import JobState as JobState
from wenyuan.types.keeping import Key as Key
from wenyuan.types.keeping import KeyKind as KeyKind
from wenyuan.types.keeping import KeySource as KeySource
from wenyuan.types.keeping import KnowledgeBase as KnowledgeBase
from wenyuan.types.keeping import KnowledgeBaseState as KnowledgeBaseState
from wenyuan.types.keeping import Lease as Lease
from wenyuan.types.keeping import ModelIdentity as ModelIdentity
from wenyuan.types.keeping import Posting as Posting
from wenyuan.types.keeping import ReadyWhen as ReadyWhen
from wenyuan.types.keeping import Revision as Revision
from wenyuan.types.keeping import RevisionState as RevisionState
from wenyuan.types.keeping import SemanticState as SemanticState
from wenyuan.types.reading import ANCHOR_KINDS as ANCHOR_KINDS
from wenyuan.types.reading import Anchor as Anchor
from wenyuan.types.reading import AnchorKind as AnchorKind
from wenyuan.types.reading import Block as Block
from wenyuan.types.reading import BlockKind as BlockKind
from wenyuan.types.reading import Box as Box
from wenyuan.types.reading import Chunk as Chunk
from wenyuan.types.reading import Facts as Facts
from wenyuan.types.reading import Given as Given
from wenyuan.types.reading import JsonObject as JsonObject
from wenyuan.types.reading import Member as Member
from wenyuan.types.reading import Notice as Notice
from wenyuan.types.reading import Problem as Problem
from wenyuan.types.reading import ReadEvent as ReadEvent
from wenyuan.types.searching import LOCAL_PRINCIPAL as LOCAL_PRINCIPAL
from wenyuan.types.searching import Answer as Answer
from wenyuan.types.searching import ArmName as ArmName
from wenyuan.types.searching import Citation as Citation
from wenyuan.types.searching import Condition as Condition
from wenyuan.types.searching import DateSpan as DateSpan
from wenyuan.types.searching import Exactness as Exactness
from wenyuan.types.searching import Grounding as Grounding
from wenyuan.types.searching import Hit as Hit
from wenyuan.types.searching import Passage as Passage
from wenyuan.types.searching import Plan as Plan
from wenyuan.types.searching import Scope as Scope
from wenyuan.types.searching import SearchResult as SearchResult
from wenyuan.types.searching import Side as Side
from wenyuan.types.searching import TextSpan as TextSpan
