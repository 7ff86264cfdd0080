"""Texts of many scripts and kinds for measuring token counters; every one written for these tests or generated here.

`corpora()` gives each kind as one text of well over 2,000 tokens. Prose is a set of written sentences followed by
patterns whose gaps are filled by a seeded generator, so that no sentence comes twice in the same words.
"""

# ruff: noqa: E501, S608 - SQL that nobody runs, prose in scripts of double width, and lines that imitate data

from __future__ import annotations

import base64
import itertools
import json
import random
import uuid
from collections.abc import Callable

PROSE: dict[str, tuple[str, list[str], list[list[str]]]] = {
    # language: (written text, patterns with {0} {1} {2}, fillers of each gap)
    "english": (
        """The old lighthouse stood at the end of the pier, and every evening Martha walked out to look at the water. She had
done so for thirty years, first with her husband, later with the dog, and now alone. Nobody in the village thought it
strange. When the fishing boats came back late, her lamp in the window was often the first thing the crews saw.
In the spring a young engineer arrived who wanted to measure how fast the coast was disappearing. He carried a heavy
case full of instruments and asked polite questions about storms. Martha told him about the winter when the sea took the
road, the bakery and half of the churchyard in a single night. He wrote everything down, then checked it against old maps,
and was surprised to find that she had remembered each distance correctly.
Economists usually explain such places with numbers: fewer jobs, older residents, cheaper houses. Those figures are not
wrong, but they leave out what people do for each other. A neighbour repairs a roof, somebody else watches the children,
and the bill is settled in apples or firewood. If you only count money, you will conclude that nothing happens here at all.
Good software is written in much the same spirit. You cannot see the small favours a careful programmer does for whoever
comes next: a clear name, an honest error message, a test that fails for the right reason. They cost an hour and save a week.
""",
        [
            "Last {0} we drove to {1} because {2}, and the children slept for most of the way.",
            "According to the report, {2}; the committee in {1} will discuss it again next {0}.",
            "She promised to call on {0}, but {2}, so I took the early train to {1} without waiting.",
            "Nobody at the office in {1} noticed that {2} until the accountant came back on {0}.",
        ],
        [
            ["Monday", "weekend", "autumn", "Thursday", "summer", "Friday", "month", "winter"],
            ["Bristol", "the mountains", "Lisbon", "her sister's farm", "the new factory", "Vienna", "the harbour"],
            [
                "the heating had broken down",
                "two of the invoices were missing",
                "the bridge was closed for repairs",
                "prices had risen faster than wages",
                "a small leak had ruined the archive",
                "the results could not be reproduced",
                "the weather forecast sounded promising",
            ],
        ],
    ),
    "chinese": (
        """小镇的尽头有一座老桥，桥下的河水一年四季都很清。每天早上，卖豆腐的王叔推着车从桥上走过，孩子们背着书包跟在后面，一边走一边数河里的鸭子。
去年冬天下了一场大雪，路被封住了三天，大家只好待在家里。邻居们把各自的菜拿出来，一起煮了一大锅汤，反而比平时更热闹。
最近几年，越来越多的年轻人选择回到家乡工作。他们有的开网店，把当地的茶叶和水果卖到全国各地；有的办起了民宿，吸引城里人来度周末。
专家认为，这种变化不仅增加了农民的收入，也让传统手工艺重新受到重视。不过，交通、医疗和教育方面的问题仍然需要解决。
我昨天给客服打了电话，说订单已经付款但是一直没有发货。对方让我提供订单号和收货地址，还说三个工作日之内会有人联系我。如果到时候还没有消息，我打算申请退款。
请帮我写一封邮件，告诉经理会议改到下周二下午三点，地点不变，参加的人需要提前准备好上个季度的数据和明年的预算。语气要礼貌一些，不要太长。
学习一门外语最重要的是坚持。每天花二十分钟听新闻、读文章、背单词，半年以后就能看到明显的进步。遇到不懂的地方不要害怕，可以先猜意思，再去查词典。
医生说父亲的血压有点高，建议他少吃盐，多运动，晚上早点休息，每个月到医院检查一次。母亲听了以后，马上把家里的咸菜都收了起来。
""",
        [
            "{0}我们去了{1}，因为{2}，所以回来的时候已经很晚了。",
            "关于{1}的计划，{2}，大家决定{0}再开会讨论。",
            "她{0}从{1}打来电话，说{2}，让我不要担心。",
            "如果{0}之前{2}，我们就只能放弃{1}的项目了。",
        ],
        [
            ["星期一", "上个月", "明天早上", "春节", "周末", "下半年", "昨天晚上", "十月"],
            ["上海", "北京的公司", "山里的村子", "新校区", "图书馆", "海边", "杭州"],
            [
                "天气突然变冷了",
                "设备出了一点问题",
                "客户还没有签合同",
                "路上堵车很严重",
                "预算已经超过了",
                "孩子感冒发烧",
                "系统升级失败",
            ],
        ],
    ),
    "japanese": (
        """駅前の古い喫茶店は、朝の七時になると必ず灯りがつく。店主の佐藤さんは八十歳を過ぎているが、今でも自分で豆を挽き、常連の顔を見てから静かにお湯を注ぐ。
去年の夏、隣のビルが取り壊されて、店の前にも工事の車が並ぶようになった。それでも客は減らなかった。むしろ作業員たちが昼休みに立ち寄り、冷たいコーヒーを飲みながら故郷の話をしていく。
会議の資料は明日の午前中までに共有フォルダへ入れてください。内容を確認したうえで、足りない部分があればこちらで追加します。お手数をおかけしますが、よろしくお願いいたします。
日本の夏は湿度が高く、夜になってもなかなか気温が下がらない。エアコンを使わずに眠るのは難しいが、電気代も気になるので、寝る前に部屋を冷やしておき、タイマーで切れるように設定している人が多い。
新しいシステムに移行してから、問い合わせの件数が半分になりました。ただし、パスワードを忘れた場合の手順がわかりにくいという意見があり、来月までに画面を改善する予定です。
祖母は手紙を書くのが好きだった。季節の花を一輪押し花にして、便箋の端にそっと貼ってくれた。今でも引き出しを開けると、かすかに甘い香りがするような気がする。
プログラムがうまく動かないときは、まずエラーの内容をよく読んで、どの行で止まったのかを確かめます。原因がわからなければ、小さな例を作って一つずつ試してみるとよいでしょう。
""",
        [
            "{0}、{1}へ行く予定でしたが、{2}ので延期になりました。",
            "{1}の担当者によると、{2}そうで、{0}もう一度連絡が来ることになっています。",
            "{2}と聞いたので、{0}のうちに{1}で準備をしておきました。",
            "{0}から{1}で働いている友人が、{2}と話していた。",
        ],
        [
            ["来週の月曜日", "昨日の夜", "先月", "今年の春", "金曜日", "夏休み", "今朝"],
            ["京都", "大阪の支店", "図書館", "新しい工場", "病院", "海辺の町", "大学の研究室"],
            [
                "電車が遅れている",
                "予算が足りない",
                "体調を崩した",
                "サーバーが止まった",
                "雨が強くなった",
                "契約が決まった",
                "部品が届かない",
            ],
        ],
    ),
    "korean": (
        """할머니는 매일 아침 시장에 가서 두부와 나물을 사 오셨다. 골목 끝에 있는 작은 가게에서는 늘 따뜻한 국물 냄새가 났고, 주인아저씨는 우리에게 귤을 하나씩 쥐여 주었다.
지난겨울에는 눈이 많이 내려서 버스가 사흘 동안 다니지 않았다. 학교도 문을 닫았기 때문에 아이들은 하루 종일 언덕에서 썰매를 탔다.
회의 시간이 다음 주 화요일 오후 세 시로 변경되었습니다. 참석하시는 분들은 지난 분기 실적 자료와 내년 예산안을 미리 준비해 주시기 바랍니다. 궁금한 점이 있으면 언제든지 연락해 주세요.
최근 몇 년 사이에 고향으로 돌아와 일하는 젊은이들이 늘고 있다. 어떤 사람은 온라인으로 과일과 차를 팔고, 어떤 사람은 오래된 집을 고쳐서 손님을 받는다. 전문가들은 이러한 변화가 농촌 경제에 도움이 된다고 말한다.
주문한 상품이 아직 도착하지 않아서 고객센터에 전화를 걸었다. 상담원은 주문 번호와 주소를 확인한 뒤에 늦어도 금요일까지는 배송될 것이라고 설명했다.
외국어를 배울 때 가장 중요한 것은 꾸준함이다. 매일 이십 분씩 뉴스를 듣고 글을 읽으면 반년 뒤에는 분명히 실력이 달라져 있을 것이다. 모르는 단어가 나와도 겁내지 말고 먼저 뜻을 짐작해 보자.
프로그램이 제대로 실행되지 않으면 먼저 오류 메시지를 자세히 읽어야 한다. 원인을 찾기 어렵다면 작은 예제를 만들어 하나씩 확인하는 방법이 좋다.
""",
        [
            "{0} 우리는 {1}에 가려고 했지만 {2} 그만두었다.",
            "{1}에서 온 소식에 따르면 {2} {0} 다시 의논하기로 했다고 한다.",
            "동생은 {0} {1}에서 전화를 걸어 {2} 걱정하지 말라고 했다.",
            "담당자는 {2} {0}까지 {1}의 작업을 마치기 어렵다고 설명했다.",
        ],
        [
            ["월요일", "지난달", "내일 아침", "설날", "주말", "올해 가을", "어젯밤"],
            ["부산", "서울 본사", "시골 마을", "새 도서관", "바닷가", "연구소", "대구 공장"],
            [
                "날씨가 갑자기 추워져서",
                "기계에 문제가 생겨서",
                "계약이 늦어졌기 때문에",
                "길이 너무 막혀서",
                "예산이 부족해서",
                "아이가 감기에 걸려서",
                "서버가 멈추는 바람에",
            ],
        ],
    ),
    "arabic": (
        """كان جدي يفتح دكانه الصغير قبل شروق الشمس، ويضع أمام الباب كرسيين من الخشب وإبريقا من الشاي. كان الناس يمرون به في طريقهم إلى
العمل، فيسألهم عن أولادهم ويحكي لهم ما سمعه في نشرة الأخبار. لم يكن الدكان كبيرا، لكنه كان قلب الحي.
في السنوات الأخيرة عاد كثير من الشباب إلى قراهم بعد أن تعبوا من الحياة في المدن الكبيرة. فتح بعضهم متاجر على الإنترنت يبيعون فيها
العسل وزيت الزيتون، وحول آخرون البيوت القديمة إلى نزل صغيرة تستقبل الزوار في نهاية الأسبوع.
نود إعلامكم بأن موعد الاجتماع قد تغير إلى يوم الثلاثاء القادم في الساعة الثالثة بعد الظهر. يرجى من جميع المشاركين تجهيز تقارير
الربع الماضي وميزانية العام المقبل، ومن لديه أي سؤال فليتواصل مع السكرتارية.
اتصلت أمس بخدمة العملاء لأن الطلب لم يصل حتى الآن رغم أنني دفعت ثمنه قبل أسبوعين. طلب مني الموظف رقم الطلب والعنوان، وقال إن
الشحنة ستصل خلال ثلاثة أيام عمل، وإذا لم تصل فيمكنني استرداد المبلغ كاملا.
أهم شيء في تعلم لغة جديدة هو الاستمرار. اقرأ كل يوم صفحة واحدة، واستمع إلى الأخبار عشرين دقيقة، ولا تخف من الخطأ. بعد ستة أشهر
سوف تلاحظ فرقا واضحا في قدرتك على الفهم والكلام.
عندما لا يعمل البرنامج كما ينبغي، اقرأ رسالة الخطأ بعناية وحاول أن تعرف السطر الذي توقف عنده. إذا لم تجد السبب فاكتب مثالا
صغيرا وجربه خطوة بعد خطوة.
""",
        [
            "{0} سافرنا إلى {1} لأن {2}، ولم نرجع إلا في وقت متأخر.",
            "قال المدير في {1} إن {2}، ولذلك سنناقش الأمر مرة أخرى {0}.",
            "اتصلت بي أختي {0} من {1} وأخبرتني أن {2}.",
            "لم يلاحظ أحد في {1} أن {2} حتى عاد المحاسب {0}.",
        ],
        [
            ["يوم الاثنين", "في الشهر الماضي", "صباح الغد", "في نهاية الأسبوع", "يوم الخميس", "في الصيف", "مساء أمس"],
            ["القاهرة", "المكتب الجديد", "القرية", "المكتبة العامة", "الإسكندرية", "مصنع الأثاث", "بيروت"],
            [
                "الطقس أصبح باردا فجأة",
                "الجهاز تعطل مرة أخرى",
                "العقد لم يوقع بعد",
                "الأسعار ارتفعت كثيرا",
                "الطريق كان مغلقا للإصلاح",
                "النتائج لم تكن كافية",
                "الطفل مصاب بالحمى",
            ],
        ],
    ),
    "hindi": (
        """गाँव के किनारे एक पुराना कुआँ था, जिसके पास हर शाम लोग इकट्ठा होते थे। बुज़ुर्ग लोग मौसम और फ़सल की बातें करते, बच्चे खेलते और औरतें पानी भरते हुए
दिन भर की ख़बरें सुनातीं। अब घर-घर में नल लग गए हैं, लेकिन शाम को लोग आज भी वहीं बैठते हैं।
पिछले कुछ सालों में बहुत से युवा शहर छोड़कर अपने गाँव लौट आए हैं। किसी ने ऑनलाइन दुकान खोली है और शहद तथा मसाले बेचता है, किसी ने पुराने मकान को ठीक करके
मेहमानों के लिए कमरे बनाए हैं। विशेषज्ञों का मानना है कि इससे किसानों की आय बढ़ी है।
आपको सूचित किया जाता है कि बैठक का समय बदलकर अगले मंगलवार दोपहर तीन बजे कर दिया गया है। कृपया पिछली तिमाही के आँकड़े और अगले साल का बजट तैयार रखें। यदि कोई
प्रश्न हो तो कार्यालय से संपर्क करें।
कल मैंने ग्राहक सेवा को फ़ोन किया क्योंकि दो हफ़्ते पहले दिया गया ऑर्डर अभी तक नहीं पहुँचा था। उन्होंने ऑर्डर नंबर और पता पूछा और कहा कि तीन दिन के अंदर सामान मिल
जाएगा, नहीं तो पूरा पैसा वापस कर दिया जाएगा।
नई भाषा सीखने में सबसे ज़रूरी बात है रोज़ अभ्यास करना। हर दिन बीस मिनट समाचार सुनिए, एक पन्ना पढ़िए और गलती करने से मत डरिए। छह महीने बाद आप खुद फ़र्क महसूस करेंगे।
जब प्रोग्राम ठीक से न चले तो सबसे पहले त्रुटि संदेश को ध्यान से पढ़ना चाहिए। अगर कारण समझ में न आए तो एक छोटा उदाहरण बनाकर एक-एक कदम जाँचना अच्छा रहता है।
""",
        [
            "{0} हम लोग {1} गए थे, लेकिन {2}, इसलिए जल्दी लौटना पड़ा।",
            "{1} के अधिकारी ने बताया कि {2} और {0} फिर से चर्चा होगी।",
            "बहन ने {0} {1} से फ़ोन करके कहा कि {2}।",
            "अगर {2}, तो {0} तक {1} का काम पूरा नहीं हो सकेगा।",
        ],
        [
            ["सोमवार को", "पिछले महीने", "कल सुबह", "दीवाली पर", "इस सप्ताह", "गर्मियों में", "शनिवार की रात"],
            ["दिल्ली", "नए दफ़्तर", "मुंबई", "पहाड़ों", "पुस्तकालय", "जयपुर", "कारख़ाने"],
            [
                "मौसम अचानक बदल गया",
                "मशीन फिर से ख़राब हो गई",
                "रास्ता बंद था",
                "बजट कम पड़ गया",
                "बच्चे को बुखार आ गया",
                "समझौते पर हस्ताक्षर नहीं हुए",
                "दाम बहुत बढ़ गए",
            ],
        ],
    ),
    "thai": (
        """ทุกเช้าคุณยายจะตื่นก่อนพระอาทิตย์ขึ้นเพื่อหุงข้าวและเตรียมอาหารใส่บาตร กลิ่นแกงหอมลอยไปถึงบ้านข้างๆ เด็กๆ จึงมักจะวิ่งมาเกาะรั้วแล้วถามว่าวันนี้มีขนมอะไรบ้าง
ปีที่แล้วฝนตกหนักจนน้ำท่วมถนนหน้าหมู่บ้านนานเกือบสองสัปดาห์ ชาวบ้านต้องใช้เรือไปตลาด แต่ทุกคนก็ช่วยเหลือกันเป็นอย่างดี ใครมีข้าวสารก็แบ่งข้าวสาร ใครมีผักก็แบ่งผัก
ในช่วงไม่กี่ปีที่ผ่านมา คนหนุ่มสาวจำนวนมากเลือกกลับไปทำงานที่บ้านเกิด บางคนเปิดร้านค้าออนไลน์ขายน้ำผึ้งและผลไม้ บางคนปรับปรุงบ้านเก่าให้เป็นที่พักสำหรับนักท่องเที่ยว
ขอแจ้งให้ทราบว่าการประชุมเลื่อนไปเป็นวันอังคารหน้า เวลาบ่ายสามโมง ผู้เข้าร่วมประชุมทุกท่านกรุณาเตรียมข้อมูลของไตรมาสที่แล้วและงบประมาณปีหน้าให้พร้อม หากมีข้อสงสัยกรุณาติดต่อสำนักงาน
เมื่อวานนี้ฉันโทรศัพท์ไปหาฝ่ายบริการลูกค้า เพราะสินค้าที่สั่งไว้ยังไม่มาถึง พนักงานขอหมายเลขคำสั่งซื้อและที่อยู่ แล้วบอกว่าจะจัดส่งให้ภายในสามวันทำการ ถ้าไม่ได้รับก็สามารถขอเงินคืนได้
สิ่งสำคัญที่สุดในการเรียนภาษาใหม่คือความสม่ำเสมอ ฟังข่าววันละยี่สิบนาที อ่านหนังสือวันละหน้า และอย่ากลัวที่จะพูดผิด อีกหกเดือนคุณจะเห็นความเปลี่ยนแปลงอย่างชัดเจน
ถ้าโปรแกรมทำงานไม่ถูกต้อง ให้เริ่มจากการอ่านข้อความแสดงข้อผิดพลาดอย่างละเอียด ถ้ายังหาสาเหตุไม่พบ ลองเขียนตัวอย่างเล็กๆ แล้วทดสอบทีละขั้นตอน
""",
        [
            "{0}พวกเราไปที่{1} แต่{2} จึงต้องกลับบ้านเร็วกว่าที่คิดไว้",
            "เจ้าหน้าที่ของ{1}แจ้งว่า{2} และจะประชุมกันอีกครั้ง{0}",
            "พี่สาวโทรมาจาก{1}{0}แล้วบอกว่า{2}",
            "ถ้า{2} งานที่{1}คงไม่เสร็จทัน{0}",
        ],
        [
            ["วันจันทร์", "เดือนที่แล้ว", "พรุ่งนี้เช้า", "ช่วงสงกรานต์", "วันหยุด", "ปลายปี", "เมื่อคืนนี้"],
            ["เชียงใหม่", "สำนักงานใหญ่", "ทะเล", "ห้องสมุด", "โรงงานใหม่", "ภูเก็ต", "หมู่บ้านบนเขา"],
            [
                "อากาศเปลี่ยนแปลงกะทันหัน",
                "เครื่องจักรเสียอีกแล้ว",
                "รถติดมาก",
                "งบประมาณไม่พอ",
                "ลูกเป็นไข้",
                "ยังไม่ได้เซ็นสัญญา",
                "ราคาสูงขึ้นมาก",
            ],
        ],
    ),
    "russian": (
        """Каждое утро дедушка открывал свою мастерскую ещё до рассвета. Он зажигал лампу, ставил чайник и долго раскладывал
инструменты, хотя каждый из них и так лежал на своём месте. Соседи приносили ему сломанные часы, и он никогда никому не отказывал.
Прошлой зимой выпало столько снега, что автобусы не ходили три дня. Школу закрыли, дети с утра до вечера катались с горки, а взрослые
по очереди расчищали дорогу к магазину.
В последние годы всё больше молодых людей возвращается в родные места. Одни открывают небольшие магазины в интернете и продают мёд,
другие ремонтируют старые дома и принимают гостей. Специалисты считают, что это помогает сельской экономике, но проблемы с дорогами
и медициной пока не решены.
Сообщаем вам, что совещание перенесено на вторник, на три часа дня. Просим всех участников подготовить отчёт за прошлый квартал и
проект бюджета на следующий год. Если у вас есть вопросы, обращайтесь к секретарю.
Вчера я позвонил в службу поддержки, потому что заказ, оплаченный две недели назад, до сих пор не пришёл. Оператор спросил номер
заказа и адрес, а потом пообещал, что посылку доставят в течение трёх рабочих дней.
Самое важное в изучении языка — заниматься каждый день. Слушайте новости, читайте по странице, не бойтесь ошибаться, и через полгода
вы сами заметите разницу.
Если программа работает неправильно, сначала внимательно прочитайте сообщение об ошибке. Когда причина непонятна, полезно написать
маленький пример и проверить его шаг за шагом.
""",
        [
            "{0} мы собирались поехать в {1}, но {2}, и пришлось остаться дома.",
            "По словам директора, {2}, поэтому вопрос о поездке в {1} обсудят {0}.",
            "Сестра позвонила {0} и сказала, что {2}, а билеты в {1} уже куплены.",
            "Никто не заметил, что {2}, пока {0} бухгалтер не вернулся из командировки в {1}.",
        ],
        [
            [
                "в понедельник",
                "в прошлом месяце",
                "завтра утром",
                "на выходных",
                "в пятницу",
                "осенью",
                "вчера вечером",
            ],
            ["Казань", "новый офис", "деревню", "городскую библиотеку", "Петербург", "горы", "соседний район"],
            [
                "погода резко испортилась",
                "станок опять сломался",
                "договор ещё не подписан",
                "цены выросли быстрее зарплат",
                "дорогу закрыли на ремонт",
                "ребёнок простудился",
                "результаты не удалось повторить",
            ],
        ],
    ),
    "german": (
        """Am Ende der Straße steht ein altes Haus mit grünen Fensterläden, in dem früher eine Bäckerei war. Wenn der Wind richtig
steht, meint man noch heute, den Duft von frischem Brot zu riechen. Die Kinder aus der Nachbarschaft behaupten, dass es dort spukt,
doch meistens sitzt nur die Katze von Frau Lehmann auf der Treppe.
In den letzten Jahren sind viele junge Leute aufs Land zurückgekehrt. Manche verkaufen Honig und Marmelade im Internet, andere haben
alte Scheunen ausgebaut und vermieten Ferienwohnungen. Fachleute halten das für eine gute Entwicklung, weisen aber darauf hin, dass
Ärzte, Busverbindungen und schnelle Leitungen weiterhin fehlen.
Wir möchten Ihnen mitteilen, dass die Besprechung auf Dienstag um fünfzehn Uhr verschoben wurde. Bitte bereiten Sie die Zahlen des
vergangenen Quartals sowie den Haushaltsplan für das kommende Jahr vor.
Wenn ein Programm nicht so funktioniert, wie es soll, lohnt es sich, zuerst die Fehlermeldung gründlich zu lesen. Oft hilft es, ein
kleines Beispiel zu schreiben und Schritt für Schritt zu prüfen.
""",
        [
            "{0} wollten wir nach {1} fahren, aber {2}, sodass wir zu Hause geblieben sind.",
            "Laut Bericht aus {1} heißt es, {2}; darüber wird {0} noch einmal gesprochen.",
            "Meine Schwester rief {0} aus {1} an und erzählte, {2}.",
        ],
        [
            ["Am Montag", "Im vergangenen Monat", "Morgen früh", "Am Wochenende", "Im Herbst", "Gestern Abend"],
            ["Leipzig", "Hamburg", "Österreich", "Freiburg", "Dresden", "Zürich"],
            [
                "die Maschine war schon wieder defekt",
                "der Vertrag war noch nicht unterschrieben",
                "das Wetter hatte plötzlich umgeschlagen",
                "die Preise waren schneller gestiegen als die Löhne",
                "die Brücke wurde wegen Bauarbeiten gesperrt",
                "das Kind hatte Fieber bekommen",
            ],
        ],
    ),
    "french": (
        """Chaque matin, le boulanger du village ouvre sa porte avant le lever du soleil. Les premiers clients sont les ouvriers de la
carrière, qui prennent un café et un croissant sans dire grand-chose. Plus tard viennent les enfants, puis les retraités, qui restent
longtemps à discuter près du comptoir.
Depuis quelques années, beaucoup de jeunes reviennent s'installer à la campagne. Certains vendent du miel et des confitures sur
Internet, d'autres rénovent de vieilles maisons pour accueillir des voyageurs. Les spécialistes s'en réjouissent, mais ils rappellent
que les médecins, les trains et les écoles manquent toujours.
Nous vous informons que la réunion est reportée à mardi prochain, à quinze heures. Merci de préparer les chiffres du dernier trimestre
ainsi que le budget de l'année à venir, et de prévenir le secrétariat en cas d'empêchement.
Lorsqu'un programme ne fonctionne pas comme prévu, il faut d'abord lire attentivement le message d'erreur. Si la cause reste obscure,
écrivez un petit exemple et vérifiez-le étape par étape.
""",
        [
            "{0}, nous voulions aller à {1}, mais {2}, alors nous sommes restés à la maison.",
            "D'après le responsable de {1}, {2} ; on en reparlera {0}.",
            "Ma sœur a téléphoné de {1} {0} pour dire que {2}.",
        ],
        [
            ["lundi matin", "le mois dernier", "pendant les vacances", "vendredi soir", "à l'automne", "avant Noël"],
            ["Lyon", "Marseille", "Genève", "Bordeaux", "Montréal", "Strasbourg"],
            [
                "la machine était encore tombée en panne",
                "le contrat n'avait pas été signé",
                "le temps s'était brusquement gâté",
                "les prix augmentaient plus vite que les salaires",
                "la route était fermée pour travaux",
                "le petit avait de la fièvre",
            ],
        ],
    ),
    "spanish": (
        """Todas las mañanas mi abuela abría la ventana de la cocina y saludaba al cartero por su nombre. El pueblo era pequeño y todo el
mundo se conocía; si alguien faltaba a misa o al mercado, por la tarde ya había tres vecinas llamando a su puerta con un plato de sopa.
En los últimos años muchos jóvenes han vuelto al campo. Unos venden aceite y miel por internet, otros arreglan casas antiguas para
recibir a los viajeros. Los expertos creen que el cambio es positivo, aunque todavía faltan médicos, trenes y buenas conexiones.
Les informamos de que la reunión se ha aplazado al martes a las tres de la tarde. Rogamos que preparen los datos del último trimestre y
el presupuesto del próximo año, y que avisen si no pueden asistir.
Cuando un programa no funciona como debería, lo primero es leer con calma el mensaje de error. Si la causa no está clara, conviene
escribir un ejemplo pequeño y comprobarlo paso a paso.
""",
        [
            "{0} queríamos ir a {1}, pero {2} y tuvimos que quedarnos en casa.",
            "Según el encargado de {1}, {2}, así que volveremos a hablar {0}.",
            "Mi hermana llamó {0} desde {1} para contarme que {2}.",
        ],
        [
            ["el lunes", "el mes pasado", "mañana temprano", "el fin de semana", "en otoño", "ayer por la noche"],
            ["Sevilla", "Bogotá", "la oficina nueva", "Valencia", "la sierra", "Buenos Aires"],
            [
                "la máquina se había estropeado otra vez",
                "el contrato seguía sin firmar",
                "el tiempo cambió de repente",
                "los precios subían más que los sueldos",
                "la carretera estaba cortada por obras",
                "el niño tenía fiebre",
            ],
        ],
    ),
    "vietnamese": (
        """Mỗi buổi sáng, bà tôi dậy từ rất sớm để nấu cơm và quét sân. Mùi khói bếp bay sang nhà hàng xóm, lũ trẻ thường chạy qua hỏi hôm
nay có món gì ngon. Ngoài bờ sông, những người đánh cá vừa trở về, tiếng cười nói vang khắp xóm.
Mấy năm gần đây, nhiều bạn trẻ chọn trở về quê làm việc. Có người mở cửa hàng trên mạng để bán mật ong và trái cây, có người sửa lại
ngôi nhà cũ để đón khách du lịch. Các chuyên gia cho rằng điều này giúp tăng thu nhập cho nông dân, nhưng đường sá và trạm y tế vẫn
còn thiếu.
Chúng tôi xin thông báo cuộc họp được dời sang ba giờ chiều thứ Ba tuần sau. Mọi người vui lòng chuẩn bị số liệu của quý trước và dự
toán ngân sách cho năm tới, nếu có thắc mắc xin liên hệ văn phòng.
Khi chương trình không chạy đúng, trước hết hãy đọc kỹ thông báo lỗi. Nếu chưa tìm ra nguyên nhân, bạn nên viết một ví dụ nhỏ rồi kiểm
tra từng bước một.
""",
        [
            "{0} chúng tôi định đi {1}, nhưng {2} nên đành ở nhà.",
            "Theo người phụ trách ở {1}, {2}, vì vậy {0} sẽ bàn lại.",
            "Chị tôi gọi điện từ {1} {0} và nói rằng {2}.",
        ],
        [
            ["thứ Hai", "tháng trước", "sáng mai", "cuối tuần", "mùa thu", "tối hôm qua"],
            ["Hà Nội", "Đà Nẵng", "văn phòng mới", "thư viện", "vùng núi", "Cần Thơ"],
            [
                "máy lại bị hỏng",
                "hợp đồng vẫn chưa được ký",
                "thời tiết thay đổi đột ngột",
                "giá cả tăng nhanh hơn lương",
                "đường bị chặn để sửa chữa",
                "đứa bé bị sốt",
            ],
        ],
    ),
    "turkish": (
        """Her sabah dedem güneş doğmadan dükkânını açar, kapının önüne iki tahta sandalye ve bir demlik çay koyardı. İşe giden insanlar
yanından geçerken durur, çocuklarından ve havadan söz ederlerdi. Dükkân küçüktü ama mahallenin kalbi orasıydı.
Son yıllarda birçok genç köyüne geri döndü. Kimisi internetten bal ve zeytinyağı satıyor, kimisi eski evleri onarıp misafir ağırlıyor.
Uzmanlar bu değişimin çiftçilerin gelirini artırdığını söylüyor, ancak yollar ve sağlık hizmetleri hâlâ yetersiz.
Toplantının gelecek salı günü saat üçe ertelendiğini bildiririz. Katılımcıların geçen çeyreğin verilerini ve gelecek yılın bütçesini
hazırlamalarını rica ederiz. Sorularınız için sekreterliğe başvurabilirsiniz.
Program beklendiği gibi çalışmadığında önce hata iletisini dikkatle okumak gerekir. Nedeni anlaşılmıyorsa küçük bir örnek yazıp adım
adım denemek işe yarar.
""",
        [
            "{0} {1} gitmek istiyorduk ama {2}, bu yüzden evde kaldık.",
            "Müdürün söylediğine göre {2}; {1} gidecek ekip {0} yeniden toplanacak.",
            "Ablam {0} aradı, {2} dedi ve {1} gideceğini söyledi.",
        ],
        [
            ["pazartesi günü", "geçen ay", "yarın sabah", "hafta sonu", "sonbaharda", "dün akşam"],
            ["İzmir'e", "yeni ofise", "köye", "kütüphaneye", "Ankara'ya", "dağlara"],
            [
                "makine yine bozuldu",
                "sözleşme henüz imzalanmadı",
                "hava birden soğudu",
                "fiyatlar maaşlardan hızlı arttı",
                "yol onarım için kapatıldı",
                "çocuğun ateşi çıktı",
            ],
        ],
    ),
}


def prose(language: str, characters: int = 12_500, seed: int = 7) -> str:
    """The written text of a language, lengthened by its patterns; no sentence comes twice."""
    text, patterns, gaps = PROSE[language]
    made = [pattern.format(*filling) for pattern in patterns for filling in itertools.product(*gaps)]
    random.Random(seed).shuffle(made)
    # Take at most twice the written text from the patterns, for their words repeat.
    extra, length = [], 0
    for sentence in made:
        if len(text) + length >= characters and length >= len(text):
            break
        extra.append(sentence)
        length += len(sentence)
    return text + "\n".join(extra)


_NAMES = ["Ada", "Grace", "Linus", "Mei", "Olga", "Tariq", "Yuki", "Chloe", "Diego", "Nadia"]
_NOUNS = ["order", "invoice", "user", "session", "report", "device", "booking", "ticket", "payment", "image"]
_VERBS = ["create", "update", "fetch", "delete", "validate", "merge", "render", "parse", "encode", "schedule"]
_STATES = ["active", "pending", "failed", "archived", "shipped", "cancelled"]


def english_chat(r: random.Random) -> str:
    opening = [
        "hey, quick question:",
        "Thanks!",
        "Hmm, not sure.",
        "ok so",
        "Good point -",
        "lol yes.",
        "Sorry for the delay,",
    ]
    middle = [
        "did you get a chance to look at the {n} page?",
        "I'd rather {v} the {n} first and see what happens",
        "my {n} still says {s}, is that normal?",
        "we can't {v} it without breaking {p}'s stuff",
        "{p} said it's fine, but I'm worried about the deadline",
        "let's grab coffee on Friday and talk it through :)",
        "it works on my machine, so maybe clear the cache?",
        "what's the difference between a {n} and a {m} again?",
    ]
    lines = []
    for _ in range(190):
        text = r.choice(middle).format(
            n=r.choice(_NOUNS), m=r.choice(_NOUNS), v=r.choice(_VERBS), s=r.choice(_STATES), p=r.choice(_NAMES)
        )
        lines.append(f"{r.choice(_NAMES)}: {r.choice(opening)} {text}")
    return "\n".join(lines)


def python_code(r: random.Random) -> str:
    blocks = []
    for _ in range(40):
        verb, noun, other = r.choice(_VERBS), r.choice(_NOUNS), r.choice(_NOUNS)
        blocks.append(
            f'''def {verb}_{noun}({noun}_id: int, *, {other}s: list[str] | None = None, timeout: float = {r.randint(1, 60)}.0) -> dict:
    """{verb.capitalize()} one {noun} and return what the {other} service answered."""
    if {noun}_id <= 0:
        raise ValueError(f"bad {noun} id: {{{noun}_id!r}}")
    results = {{}}
    for index, name in enumerate({other}s or []):
        with self._lock:
            results[name] = self.client.{verb}("{noun}", id={noun}_id + index, retries={r.randint(0, 5)})
    logger.debug("%s %s in %.2f s", "{noun}", {noun}_id, time.monotonic() - started)
    return {{key: value for key, value in results.items() if value is not None}}
'''
        )
    return "\n\n".join(blocks)


def javascript_code(r: random.Random) -> str:
    blocks = []
    for _ in range(45):
        verb, noun, other = r.choice(_VERBS), r.choice(_NOUNS), r.choice(_NOUNS)
        blocks.append(
            f"""export async function {verb}{noun.capitalize()}({{ id, {other}Id, signal }} = {{}}) {{
  const response = await fetch(`/api/v{r.randint(1, 3)}/{noun}s/${{id}}?{other}=${{{other}Id}}`, {{ method: 'POST', signal }});
  if (!response.ok) {{
    throw new Error(`{verb} failed with status ${{response.status}}`);
  }}
  const items = (await response.json()).data.filter((item) => item.state !== '{r.choice(_STATES)}');
  return items.map(({{ name, price }}) => ({{ name, total: price * {r.randint(2, 99)} }}));
}}
"""
        )
    return "\n".join(blocks)


def _records(r: random.Random, count: int) -> list[dict[str, object]]:
    return [
        {
            "id": r.randint(1, 10**6),
            "uuid": str(uuid.UUID(int=r.getrandbits(128))),
            "customer": {
                "name": r.choice(_NAMES),
                "email": f"{r.choice(_NAMES).lower()}{r.randint(1, 99)}@example.com",
            },
            "status": r.choice(_STATES),
            "total": round(r.uniform(1, 5_000), 2),
            "createdAt": f"2025-{r.randint(1, 12):02}-{r.randint(1, 28):02}T{r.randint(0, 23):02}:{r.randint(0, 59):02}:07Z",
            "tags": r.sample(_NOUNS, 3),
            "paid": r.random() < 0.5,
            "note": None,
        }
        for _ in range(count)
    ]


def json_pretty(r: random.Random) -> str:
    return json.dumps(_records(r, 30), indent=2)


def json_minified(r: random.Random) -> str:
    return json.dumps(_records(r, 40), separators=(",", ":"))


def json_chinese(r: random.Random) -> str:
    sentences = [one for one in prose("chinese").replace("\n", "。").split("。") if one]
    return json.dumps(
        [
            {"编号": r.randint(1, 9_999), "标题": one[:12], "内容": one, "状态": r.choice(["已完成", "处理中"])}
            for one in sentences
        ],
        ensure_ascii=False,
    )


def uuids(r: random.Random) -> str:
    return "\n".join(str(uuid.UUID(int=r.getrandbits(128), version=4)) for _ in range(160))


def hex_text(r: random.Random) -> str:
    return "\n".join(r.randbytes(32).hex() for _ in range(110))


def base64_text(r: random.Random) -> str:
    return base64.encodebytes(r.randbytes(5_000)).decode()


def emoji(r: random.Random) -> str:
    ranges = [*range(0x1F600, 0x1F645), *range(0x1F30D, 0x1F321), *range(0x1F400, 0x1F43F), *range(0x1F680, 0x1F6A5)]
    joined = ["👨‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "❤️", "👍🏿", "🇩🇪", "🇯🇵", "☀️", "1️⃣", "🤷‍♀️"]
    return " ".join(
        "".join(r.choice(joined) if r.random() < 0.3 else chr(r.choice(ranges)) for _ in range(6)) for _ in range(180)
    )


def emoji_chat(r: random.Random) -> str:
    texts = ["so happy", "see you tonight", "no way", "congrats!!", "miss you", "on my way", "that's hilarious"]
    faces = "😀😂🥰😎🤔😭🎉🔥👍❤🙏✨🥳😅"
    return "\n".join(f"{r.choice(texts)} {''.join(r.choices(faces, k=r.randint(1, 4)))}" for _ in range(420))


def log_lines(r: random.Random) -> str:
    return "\n".join(
        f"2025-{r.randint(1, 12):02}-{r.randint(1, 28):02} {r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02},"
        f"{r.randint(0, 999):03} {r.choice(['INFO', 'WARNING', 'ERROR', 'DEBUG'])} [worker-{r.randint(1, 16)}] "
        f"app.{r.choice(_NOUNS)}.service: {r.choice(_VERBS)} {r.choice(_NOUNS)} id={r.randint(1, 10**7)} "
        f"ip=10.{r.randint(0, 255)}.{r.randint(0, 255)}.{r.randint(0, 255)} took={r.randint(1, 9_000)}ms status={r.choice([200, 404, 500])}"
        for _ in range(60)
    )


def markdown(r: random.Random) -> str:
    parts = []
    for number in range(1, 36):
        noun, verb = r.choice(_NOUNS), r.choice(_VERBS)
        parts.append(
            f"## {number}. How to {verb} a {noun}\n\nBefore you **{verb}** the `{noun}`, make sure that its state is *{r.choice(_STATES)}*.\n\n"
            f"- [ ] Open the [settings page](https://example.com/{noun}s/{r.randint(1, 500)}?tab=general)\n"
            f"- [x] Run `tool {verb} --{noun}={r.randint(1, 50)}`\n\n| Field | Value |\n|-------|------:|\n| {noun} | {r.randint(1, 9_999)} |\n"
        )
    return "\n".join(parts)


def csv_table(r: random.Random) -> str:
    rows = [
        f"{number},{r.choice(_NAMES)},{r.uniform(-90, 90):.6f},{r.uniform(-180, 180):.6f},{r.randint(0, 10**9)},{r.uniform(0, 1):.3e}"
        for number in range(1, 80)
    ]
    return "\n".join(["id,name,lat,lon,value,p", *rows])


def sql(r: random.Random) -> str:
    return "\n".join(
        f"SELECT u.id, u.name, COUNT(o.id) AS {r.choice(_NOUNS)}_count FROM users u LEFT JOIN {r.choice(_NOUNS)}s o ON o.user_id = u.id "
        f"WHERE o.status IN ('{r.choice(_STATES)}', '{r.choice(_STATES)}') AND o.created_at >= '2024-{r.randint(1, 12):02}-01' "
        f"GROUP BY u.id, u.name HAVING COUNT(o.id) > {r.randint(1, 20)} ORDER BY 3 DESC LIMIT {r.randint(10, 100)};"
        for _ in range(40)
    )


def html_page(r: random.Random) -> str:
    rows = "\n".join(
        f'    <li class="item {r.choice(_STATES)}" data-id="{r.randint(1, 10**5)}"><a href="/{r.choice(_NOUNS)}s/{r.randint(1, 999)}">'
        f"{r.choice(_NAMES)} &mdash; {r.choice(_VERBS)}</a> <span>${r.uniform(1, 99):.2f}</span></li>"
        for _ in range(60)
    )
    return f"<!DOCTYPE html>\n<html>\n<body>\n  <ul>\n{rows}\n  </ul>\n</body>\n</html>\n"


def mixed(r: random.Random) -> str:
    parts = [
        part
        for language in ("english", "chinese", "russian", "arabic", "japanese")
        for part in prose(language, 3_000).split("\n")
    ]
    parts += [json.dumps(one) for one in _records(r, 6)]
    r.shuffle(parts)
    return "\n".join(parts)


GENERATED: dict[str, Callable[[random.Random], str]] = {
    "english chat": english_chat,
    "python": python_code,
    "javascript": javascript_code,
    "json": json_pretty,
    "json minified": json_minified,
    "json chinese": json_chinese,
    "uuid": uuids,
    "hex": hex_text,
    "base64": base64_text,
    "emoji": emoji,
    "emoji chat": emoji_chat,
    "logs": log_lines,
    "markdown": markdown,
    "csv": csv_table,
    "sql": sql,
    "html": html_page,
    "mixed": mixed,
}


def corpora(seed: int = 7) -> dict[str, str]:
    """Every kind of text, by name."""
    texts = {language: prose(language, seed=seed) for language in PROSE}
    return texts | {name: make(random.Random(seed)) for name, make in GENERATED.items()}
