"""What users tell an agent for good, and what they say or ask for the moment, in English and Chinese.

The patterns were tuned on all lists but `FRESH_*`, which were written last, and no pattern was changed after they had
been tried: they tell what a new phrasing can hope for.
"""

from __future__ import annotations

STANDING_EN = """
My accountant gets nervous about anything above 300 euros, so run those past me first.
I'd rather you didn't touch the main branch.
We're a vegetarian household.
The office is closed on Fridays, so nothing goes out then.
Feel free to merge dependency bumps on your own as long as the tests pass.
Prices in Swiss francs, please, not euros.
It would be great if all answers could stay under 100 words.
Our style guide wants British spelling.
I'm deaf in my left ear, so calls are no good; write to me instead.
Anything with customer names in it stays on our own servers.
Just so you know, my boss reads this mailbox too, so keep private matters out of it.
You have my permission to reschedule internal meetings without checking.
Whatever happens, don't let the balance drop under 5000.
Tests live in the spec folder; that's where new ones go as well.
My daughter has a peanut allergy, so check the ingredients of everything you order.
Could you stick to the metric system from here on?
I only fly with carriers that belong to Star Alliance.
All timestamps are to be in UTC.
Please run the linter before you hand anything over.
Legal told us that no contract leaves the house without a second signature.
When you quote a paper, give me the DOI.
I can't stand exclamation marks in business mail.
No more than two follow-ups per lead.
If a test is flaky, quarantine it rather than deleting it.
The staging database is yours to play with, production isn't.
We've agreed with the works council that working hours of individuals are not evaluated.
I expect a summary every Monday morning.
You may spend up to 50 dollars a month on APIs.
Make it a habit to attach the invoice as a PDF.
Address my mother-in-law formally, she insists on it.
Deployments happen between 10 and 4, nothing outside of that.
I want to be copied on every message to the bank.
Leave the comments in the config files alone.
Our customers don't read German, so everything goes out in English.
The password belongs in the vault and nowhere else.
I'd appreciate it if you asked before installing new packages.
For the time being, treat the numbers of the Lisbon office as confidential.
Nobody outside the team gets to see the roadmap.
I don't eat after eight, so dinner reservations have to be early.
From our side, weekend work is off the table.
We never quote competitors by name on the blog.
Whatever you draft for the clinic, keep patient initials out of it.
My thesis advisor only accepts APA citations.
I'm on Pacific time, so mornings before ten are the middle of the night for me.
The kids' screen time is capped at an hour on school days.
If an order is over two hundred pounds, hold it until I've looked at it.
Could all prices be shown with VAT included?
Our shop doesn't deliver to islands.
You're allowed to swap shifts between nurses, but never leave a ward with fewer than two.
Captions go below the figures, not above.
I'd like to keep my home address to myself.
Grandma can't climb stairs.
Nothing gets posted on Sundays, it's our day of rest.
It'd be good if you double-checked the currency before each transfer.
Let's stay away from red in all the charts.
Use the formal "Sie" with German clients.
My pension contributions are not to be touched.
The landlord wants to be told two days before any repair visit.
One joke per speech, tops.
Feel free to book anything refundable.
Two sentences per bullet is the most I can read.
The API key lives in the environment, never in the code.
Don't wake me for warnings, only for outages.
As an accountant I need every figure traceable to a receipt.
Interviews are off the record unless I tell you otherwise.
Please treat the draft of my novel as confidential.
I get seasick, so ferries are not an option.
Mails to the ministry have to be cleared by Judith.
When in doubt about a dosage, stop and ask a pharmacist.
You can delete spam without asking.
Our brand name is always written in lower case.
It's important to my mother that we don't mention the divorce.
Only use fonts we have a licence for.
Payments leave the account on the last working day of the month.
We're on the free tier, so no more than a thousand calls a day.
I want dates in ISO format everywhere.
Students' grades are nobody's business but theirs.
Should my phone be off, reach me through my assistant.
Keep the tone light; our readers are teenagers.
The piano may not be played after nine in the evening.
Our newsletter goes out without any tracking pixels.
I'm colour-blind, so don't rely on red and green.
You'd do me a favour by leaving Fridays free of meetings.
Anything the union sends needs an answer within two days.
Quotes from interviews stay exactly as they were spoken.
My husband handles the insurance, so send those letters to him.
Contractors get paid after delivery, never up front.
There's a freeze on hiring until the new year.
The garden gate must be locked at night.
Please don't put my face on the website.
We only work with suppliers from the EU.
Keep backups for at least ninety days.
I'd be grateful for shorter subject lines.
It's fine by me if you pick the hotel yourself.
Under eighteens can't be filmed without their parents' consent.
Every spreadsheet has to open in LibreOffice.
For the board, round to the nearest million.
I'm allergic to cats, so no homestays with pets.
Once the tickets are printed, the seats can't be changed.
Let the phone ring at least ten times before you give up.
The surprise party is a secret from Anna.
Weekly reports, not daily ones.
I trust you with the calendar but not with the bank account.
As long as it's under forty euros you needn't ask.
No nicknames in official letters.
We're fasting this month, so lunch meetings are out.
Stick to the facts and leave opinions out.
Our house style is no Oxford comma.
Requests from journalists go straight to the press office.
I sleep until nine.
Cash only at the market stall.
You should always assume the guests don't speak English.
The heating mustn't go above twenty degrees.
Ms Okafor prefers to be contacted by letter.
If you have to choose, choose the quieter room.
Don't take the motorway, I get panic attacks there.
The lab notebook is read-only for everyone but Priya.
Our deadline can't move, the printer is booked.
I never sign anything on the same day.
Please put the kids' events in blue.
I'd feel better if someone from legal read it first.
We bill in quarter hours.
Kindly answer in Portuguese.
My mother is not to be called after eight.
The dog food has to be grain-free.
Could you possibly avoid ringing the doorbell?
Since the baby naps at one, no deliveries around then.
I wish people would stop sending me spreadsheets by mail; use the portal.
Sizes are in European numbers.
You're welcome to use my card for parking, nothing else.
No need to run small refunds by me.
Guest names must stay off the invoices.
I don't want to see any ads in the newsletter.
Our insurance only covers drivers over 25.
The recipe blog is gluten-free, so no wheat flour.
Let me approve every tweet before it goes live.
I've been told by the bank that transfers over 10,000 need a second person.
Temperatures in Celsius, distances in kilometres.
Make sure nobody gets double-booked.
I travel with a wheelchair, so stairs are a problem.
Please be discreet about the diagnosis.
Anything you translate should keep the placeholders.
The quarterly numbers are embargoed until the 12th.
Don't assume I can code.
We close at six sharp.
If the supplier is late again, cancel the order.
Passwords never go into tickets.
For tax reasons, all invoices have to carry this year's date.
You may order office supplies up to 80 euros on your own.
I hate being called "dear".
The archive is read-only.
Short paragraphs, please.
Whenever there's a choice, take the train.
My colleague's maternity leave isn't public yet.
Use the 24-hour clock.
It has to be somewhere my dad can park.
Test accounts only, please, not real customers.
Wednesdays are for deep work, keep them clear.
I need receipts for everything you buy.
The children's photos stay in the family.
Tenants must get 24 hours' notice before anybody enters the flat.
For choir emails I'd keep it to five lines.
We don't discuss unreleased games with anyone.
Vintages before 2015 aren't for sale.
The vet said no grains for Bella.
Donors' names are confidential.
Please hold any payment above 2k until I'm back.
Seating plan changes go through the bride's sister.
Parents should only be contacted via the school app.
If stock drops below 20, reorder.
You don't have to ask me about colours.
I'm a slow reader, so keep messages brief.
Quote everything in pounds.
My surname comes first.
No music with lyrics, please.
Whoever calls, don't give out the door code.
Would you mind always adding a source?
The wine club members come first when bottles are scarce.
We reply to complaints within a day.
The budget for flowers is 800 and not a penny more.
Never merge without a green pipeline.
I can only do Tuesdays and Thursdays.
Make sure that the French version is checked by a native speaker.
Anything about layoffs is off limits in the newsletter.
Let's use first names only.
It'd be best to send invoices as PDFs.
Both our kids are vegan.
Unless it's an emergency, don't text me at night.
I don't have a car.
Logs older than a month may be deleted.
You can sign for parcels on my behalf.
The judges' scores can't be shared before the ceremony.
Please call the client "the Foundation" in all documents.
Round up, never down.
Our privacy policy forbids storing IP addresses.
Check the spelling of names twice.
Ask before adding people to the group.
Bring the price down only if they insist.
All photos need a credit line.
I prefer phone calls to video.
My knees are bad, so nothing with hills.
Prescriptions are only renewed after Dr. Lind has looked at them.
Please spell out all abbreviations the first time.
The museum doesn't allow flash photography, so leave it out of the programme.
I've promised the neighbours that there'd be no drilling before ten.
Keep the subject lines free of emojis.
You can charge travel to the project account.
Our guests mostly pay in cash, so round to whole euros.
Only reply if they ask a question.
I want my name left out of the credits.
When you mention a drug, use the generic name.
We don't ship on public holidays.
Recordings get deleted after the minutes are done.
The attic is my private space.
It would help if you numbered your questions.
Never sign with my full name.
Anything under a week's notice is too short for our drivers.
Use Celsius.
I'm not available while the markets are open.
Ask my wife about anything to do with the house.
A maximum of three attachments per mail.
The kids aren't allowed soft drinks.
Please don't quote me on that.
Book through the travel agency, not directly.
I'd prefer if the reminders came in the morning.
The shop's opening hours must be on every flyer.
No personal data in the test environment.
Give the summary first and the details after.
Our lawyers insist on written confirmation.
You may open letters from the tax office.
Don't ever promise delivery dates.
Make appointments for the afternoon, I'm useless in the morning.
Meetings shouldn't run over 45 minutes.
Stay polite even when they're rude.
The word "cheap" is banned in our copy.
Bills are due on the 5th, please pay them a day early.
If it's raining the lesson is online.
Whatever they offer, the answer is no.
Everything has to fit on one page.
The spare key stays with Marta.
My wife's birthday present must not show up on the joint account.
I work from a train most days, so nothing that needs a fast connection.
Leave the tone of the original as it is when you translate.
The landlady doesn't tolerate pets.
Drafts go to Ines before they go to me.
I'd rather wait a week than pay for express.
Please use the name Alex, not Alexandra.
Company cars are for business trips only.
You've got a free hand with the layout.
Numbers below ten are written out in our magazine.
I only read plain text.
Minors' data is deleted after thirty days.
Could you always tell me the price before you order?
No phone numbers on the website.
We are a Mac-only shop.
Don't schedule anything on religious holidays.
My limit is three meetings a day.
If a customer swears, end the chat.
You needn't greet me every time.
Any change to the schema needs a ticket.
The interns aren't to be given production access.
For me, two reminders are enough.
I take my coffee without milk.
Press questions are answered by Lena alone.
Make all headings bold.
The contract says deliveries stop at noon on Saturdays.
Keep me out of group chats.
When comparing offers, include shipping.
Please don't use my work address for private parcels.
Everything above the second floor is off limits to visitors.
Nuts are a no-go in the whole school.
I can't open zip files.
Prices may be rounded but never hidden.
Take notes in every call.
Don't let the tank go below a quarter.
It's our tradition to thank donors by hand.
Send nothing to my old address.
Only the treasurer can approve refunds.
Write as if for a ten-year-old.
The test suite has to finish in under five minutes.
""".strip().splitlines()

STANDING_ZH = """
超过三百块的支出先跟我说一声。
我不太希望你动主分支。
我们家都吃素。
周五公司不上班，那天就别发东西出去了。
依赖升级你可以自己合并，只要测试过了就行。
价格用人民币算，不要美元。
回答最好都控制在一百字以内。
我们的文档统一用简体中文。
我左耳听不见，电话就免了，给我发文字吧。
凡是带客户姓名的资料只能放在我们自己的服务器上。
跟你说一下，这个邮箱我老板也会看，私事别写在里面。
内部会议你可以直接改时间，不用问我。
无论如何账户余额不能低于五千。
测试都放在spec目录里，新的也放那儿。
我女儿对花生过敏，点东西的时候都要看配料。
以后都用公制单位好吗？
我出差只坐国航。
所有时间戳一律用UTC。
交给我之前麻烦先跑一遍检查。
法务说了，合同没有两个人签字不许发出去。
引用论文的时候把DOI带上。
我很烦商务邮件里用感叹号。
每个客户最多跟进两次。
测试不稳定的话先隔离，别直接删。
预发库你随便用，生产库碰都不要碰。
我们跟工会说好了，不统计个人的工作时长。
每周一早上给我一份小结。
接口费用一个月可以花到五百块。
发票养成习惯都附成PDF。
跟我岳母说话要用敬语，她很讲究这个。
上线只能在十点到四点之间。
给银行的邮件都要抄送我。
配置文件里的注释请保持原样。
我们的客户看不懂德文，对外一律英文。
密码只放在保险库里，别的地方都不行。
装新包之前希望你先问我。
里斯本办公室的数据暂时先当机密处理。
路线图不给团队以外的人看。
我晚上八点以后不吃东西，订餐厅要订早一点的。
周末加班这种安排我们是不接受的。
博客里从来不点名竞争对手。
给诊所写东西，病人的姓名缩写也别出现。
我导师只认APA格式的引用。
我在西八区，上午十点之前对我来说都是半夜。
孩子上学的日子每天看屏幕最多一小时。
订单超过两百镑的先压着，等我看过再说。
价格能不能都写含税的？
我们店不往海岛发货。
护士之间换班你可以直接批，但每个病房至少留两个人。
图注放在图下面，不要放上面。
我的家庭住址不想让别人知道。
我奶奶爬不了楼梯。
礼拜天我们休息，什么都不发。
每次转账之前最好把币种再核一遍。
图表里尽量避开红色。
跟德国客户一律用尊称。
我的养老金账户不能动。
上门维修要提前两天跟房东打招呼。
一场演讲最多讲一个笑话。
只要能退款的，你随便订。
每条不要超过两句话，再长我看不下去。
密钥放在环境变量里，代码里不能有。
一般告警不用叫醒我，宕机了再叫。
我做会计的，每个数字都得有凭证。
采访内容除非我另外说，都不公开。
小说的稿子请当机密对待。
我晕船，轮渡就不考虑了。
发给部里的邮件都要先给朱迪审。
剂量拿不准的时候先停下来问药师。
垃圾邮件你直接删就行。
品牌名一律小写。
我妈很在意，离婚的事不要提。
字体只用我们买了授权的。
货款统一在每月最后一个工作日付。
我们用的是免费版，一天调用别超过一千次。
日期全部写成年-月-日。
学生的成绩除了本人谁都不给看。
我手机关机的话就找我助理。
语气轻松一点，我们的读者都是中学生。
晚上九点以后不弹钢琴。
我们的邮件简报里不放任何追踪代码。
我是色盲，别只靠红绿颜色区分。
麻烦周五不要排会。
工会来的函两天之内都要答复。
采访的原话一个字都不能改。
保险的事归我先生管，那些信转给他。
外包的款子货到再付，不预付。
年底之前不招人。
花园的门晚上必须锁上。
网站上别放我的照片。
我们只跟欧盟的供应商合作。
备份至少留九十天。
邮件标题希望能短一些。
酒店你自己挑就好，我没意见。
未满十八岁的，家长没同意不能拍。
每张表都得能用WPS打开。
给董事会看的数字四舍五入到百万。
我对猫过敏，有宠物的民宿就不要了。
票打出来以后座位就不能换了。
电话至少响十声再挂。
生日会要瞒着安娜。
要周报，不要日报。
日历你可以管，银行账户不行。
四十欧元以下的不用问我。
正式信件里不用昵称。
这个月我们斋戒，午餐会就别约了。
只写事实，不写看法。
我们行文的规矩是不用感叹号。
记者的问题直接转给新闻办。
我九点才起床，早上别打电话。
菜市场的摊位只收现金，记得带。
默认客人都不会说英语。
暖气不能超过二十度。
王老师喜欢收纸质信，别给她发邮件。
非要选的话，选安静的那间。
别走高速，我在高速上会恐慌。
实验记录本除了小李大家都只能看。
截稿日期动不了，印刷厂已经排上了。
我从不当天签字。
孩子的活动用蓝色标出来。
让法务先看一遍我才放心。
我们按一刻钟计费。
麻烦用葡萄牙语回答。
八点以后别给我妈打电话。
狗粮得是无谷的。
能不能别按门铃？
宝宝一点睡午觉，那个时间段就别送货了。
别再用邮件发表格给我了，走系统。
尺码用欧码。
我的卡你可以拿来付停车费，别的不行。
小额退款不必找我。
发票上不能出现客人的名字。
简报里我不想看到广告。
我们的保险只保二十五岁以上的司机。
这个菜谱博客是无麸质的，所以不要放小麦粉。
每条微博发之前都让我过一遍。
银行跟我说了，一万以上的转账要两个人确认。
温度用摄氏度，距离用公里。
确保没有人被重复预约。
我坐轮椅出行，楼梯不方便。
诊断结果请替我保密。
翻译的时候占位符要留着。
季度数据十二号之前不能对外说。
别以为我会写代码。
我们六点准时关门。
供应商再迟到就把订单取消。
密码永远不要写进工单。
因为报税，所有发票都必须是今年的日期。
办公用品八十欧以内你可以自己下单。
我讨厌别人叫我“亲”。
归档库是只读的。
段落短一点。
有得选的话就坐火车。
同事休产假的事还没公开。
时间用二十四小时制。
地方得我爸能停车的。
只用测试账号，别碰真实客户。
周三是专心干活的日子，别排别的。
你买的东西都要有小票。
孩子的照片不要流出家门。
进租客的房子之前必须提前一天通知。
合唱团的邮件控制在五行以内。
没发布的游戏我们跟谁都不谈。
2015年以前的年份酒不卖。
兽医说了，贝拉不能吃谷物。
捐款人的名字要保密。
两千以上的付款等我回来再说。
座位表要改得通过新娘的姐姐。
联系家长只能用学校的软件。
库存低于二十就补货。
颜色的事不用问我。
我看东西慢，消息写短点。
报价都用英镑。
我的姓写在前面。
不要带歌词的音乐。
不管谁打来，都别把门禁密码说出去。
麻烦每次都附上出处。
酒不够的时候优先给会员。
投诉我们当天就要回。
买花的预算是八百，一分钱也不能多。
流水线没绿之前绝不合并。
我只有周二和周四有空。
法语版一定要让母语的人看过。
裁员的事简报里一个字都不要写。
互相之间都叫名字，别叫职务。
发票最好发PDF。
我家两个孩子都吃全素。
除非有急事，晚上别给我发短信。
我没有车。
一个月以前的日志可以删。
快递你可以替我签收。
评委的分数典礼之前不能公布。
文件里统一把客户称作“基金会”。
只进不舍。
我们的隐私政策不允许存IP地址。
人名的写法要核对两遍。
拉人进群之前先问一声。
对方坚持的话才能降价。
照片都要标注作者。
比起视频我更喜欢打电话。
我膝盖不好，有坡的路线就别排了。
处方要林医生看过才能续。
缩写第一次出现的时候写全称。
博物馆不许用闪光灯，流程里把这项去掉。
我答应过邻居，十点以前不打电钻。
标题里不要有表情符号。
差旅费你可以记在项目账上。
客人大多付现金，金额取整到元。
他们问了你再回。
演职员表里不要写我的名字。
提到药的时候用通用名。
法定节假日我们不发货。
录音等纪要写完就删掉。
阁楼是我的私人空间，别进。
问题最好编上号。
落款不要写我的全名。
提前不到一周的单子我们司机接不了。
用摄氏度。
开盘期间别找我。
家里的事都问我太太。
一封邮件最多三个附件。
孩子们不准喝汽水。
这话别说是我讲的。
走旅行社订，不要直接订。
提醒最好放在早上。
每张传单上都要印营业时间。
测试环境里不能有个人信息。
先给结论，再写细节。
我们律师坚持要书面确认。
税务局来的信你可以拆。
千万别跟客户承诺交货日期。
约人约下午，我上午脑子不转。
会议别超过四十五分钟。
对方再没礼貌你也要客气。
文案里禁用“便宜”两个字。
账单五号到期，提前一天付。
下雨的话课就改线上。
不管他们开什么价，都回绝。
所有内容要放得进一页。
备用钥匙放在玛塔那儿，谁也别给。
给我太太的生日礼物不能出现在共同账户里。
我大部分时间在火车上办公，要快网的就别安排了。
翻译的时候保留原文的语气。
房东不让养宠物。
稿子先给伊内斯看，再给我。
宁可多等一周也不要付加急费。
请用阿历克斯这个名字，不要用全名。
公司的车只能出差用。
版式你全权决定。
我们杂志里十以下的数字用汉字。
我只看纯文本。
未成年人的数据三十天后删除。
下单之前能不能每次都先告诉我价格？
网站上不要放电话号码。
我们公司只用苹果电脑。
宗教节日不要排任何事。
我一天最多开三个会。
客户骂人就结束对话。
不用每次都跟我打招呼。
改表结构必须有工单。
实习生不能给生产权限。
提醒两次就够了。
我喝咖啡不加奶。
媒体的提问只由莉娜回答。
标题全部加粗。
合同规定周六中午以后不送货。
别把我拉进群聊。
比价的时候把运费算进去。
私人快递别寄到我公司。
二楼以上不对访客开放。
全校都不许带坚果。
我打不开压缩包。
价格可以取整，但不能隐瞒。
每次通话都要做记录。
油箱别低于四分之一。
我们的传统是手写感谢信给捐款人。
旧地址什么都别寄。
退款只有财务主管能批。
写得让十岁的孩子也能看懂。
测试要在五分钟内跑完。
""".strip().splitlines()

PASSING_EN = """
What time does the train to Basel leave?
Find me a train that gets in before nine.
I had pasta for lunch and it was too salty.
My sister always calls at the worst moment.
Can you open the second attachment?
The meeting went on for three hours yesterday.
Thanks, that was quick!
Do you know why the build failed?
We only had two customers this morning.
I never liked that film.
He said he must be home by six.
Let's look at the third row again.
Could you tell me what a closure is?
The printer doesn't work again.
I tried restarting it, no luck.
Book me a table for four tonight.
She told him not to worry.
Is it allowed to park there on Sundays?
The weather has been awful all week.
Summarise this page for me.
How do I keep cats off the lawn?
I need a birthday present for my nephew.
It took me forever to find the keys.
That function returns a list, not a dict.
Show me the log of the last run.
We moved here in 2014.
Why must everything be so complicated?
I think the second draft is better.
Nobody came to the party.
Our neighbours got a new dog, it barks all night.
Translate the last paragraph into French.
The report was supposed to be ready on Tuesday.
Okay, go ahead.
I'm only asking because I was curious.
You were right about the index.
There's a typo in line 12.
Have you ever heard of the Lindy effect?
The guide at the museum wouldn't let us take pictures.
I'd like to hear a joke.
My phone died halfway through the call.
What's the difference between UTC and GMT?
Try again with a smaller batch.
The cake needs another ten minutes.
The hotel only takes cash, how annoying.
Please remind me what we decided on Monday.
I should have listened to you.
The new intern is doing well.
It rained, so we stayed inside.
Which of the two options is cheaper?
I wish I had more time to read.
The server returned 502 twice and then recovered.
They never answered my letter.
Compare these two files.
The kids have no school today.
I've always wanted to see Iceland.
The doctor told my uncle to avoid salt.
Give me three names for a bakery.
It's probably nothing, don't worry about it.
In the film nobody is allowed to speak.
Wait, that's not what I meant.
How many calls does the free tier include?
The ferry was cancelled because of the storm.
My advisor liked the second chapter.
I posted the pictures on Sunday.
Could you look up the opening hours of the pharmacy?
Grandma turned ninety last week.
The piano is badly out of tune.
I'm reading a novel about a lighthouse keeper.
She gets seasick even in the bathtub.
What would you do in my place?
The nurse who was on duty was very kind.
Draw me a chart of last month's sales.
We flew over the Alps, what a view!
He thinks red suits him.
There are only two eggs left.
Convert 40 miles to kilometres.
My brother never answers his phone.
I forgot to pay the invoice, so they sent a reminder.
Is the museum closed on Mondays?
Find the cheapest train to Lyon before noon.
Nobody told me about the change.
I'm not sure which font they used.
Our teacher made us write everything twice.
The transfer took three days.
Did Judith call back?
I had to wait two hours at the ministry.
The teenagers next door are always loud.
You must be tired of my questions.
Rewrite the first sentence, it sounds odd.
I bought all the tickets yesterday.
That was the only joke in the whole speech.
Honestly, I'd rather be at the beach.
What's the ISO code for Swiss francs?
The report has twelve pages.
We should go hiking some time.
My dog eats everything.
Please open the window menu and tell me what you see.
It always rains when I wash the car.
They closed the shop in March.
Can I bring a friend?
I didn't expect so many people.
The recipe calls for two onions.
Send that last one again, it didn't arrive.
My boss said she'd think about it.
I'd love a cup of tea.
Explain the difference between a lease and a loan.
The password reset mail never came.
Two of the students were late.
So far everything works.
This one is better than the other.
I can't find my glasses anywhere.
In Japan you don't wear shoes inside, I heard.
The second option costs more.
Good night, see you tomorrow.
Let's see what the numbers say.
The doctor was running late.
We won the match in the last minute!
Why didn't the alarm go off?
I'll be in Vienna until Thursday.
The invoice should be in your inbox.
What's on my calendar tomorrow?
The gate squeaks when it's windy.
I printed the tickets this morning.
Anna loved the party.
We had lunch at the market.
Could you check the weather for the weekend?
He only eats pasta, can you believe it?
The heating broke down again.
My cat knocked over the vase.
Show me the hotels near the station.
I couldn't sleep at all last night.
Who won the game yesterday?
The motorway was completely blocked.
Is the lab open on Saturdays?
She never finished her degree.
I'm going to the dentist on Thursday.
Our printer prints everything in pink.
Write a short poem about autumn.
The kids want a treehouse.
I should probably call my mother.
Look for flights under 200 euros to Porto next week.
Journalists were waiting outside.
It must have been expensive.
Give me the numbers for March.
The newsletter has three thousand readers.
Isn't that against the rules?
He was told not to film there.
They always lose at home.
Nothing works today.
The union called for a strike.
How long do backups usually take?
I left my umbrella on the bus.
Maybe we can meet after work.
The insurance paid for everything.
Just checking whether you're there.
My husband snores.
Turn this list into a table.
There's no milk left.
I had no idea it was so late.
Only three people came to the talk.
Can we talk about something else?
The sauce needs a bit of salt.
Everyone at the office has a cold.
You can see the sea from up there.
He wouldn't stop talking.
The seats were really uncomfortable.
I'd forgotten how good this song is.
What does the abbreviation mean?
Every time I call, the line is busy.
I think I'll take the earlier train.
The supplier sent the wrong boxes.
Ask me anything!
Do cats dream?
The new hire starts on Monday.
No, I meant the other one.
If I were you, I'd sell it.
Thanks for letting me know.
Without coffee I'm useless.
The bank is right next to the bakery.
Which of these is bigger?
How much is parking at the airport?
The baby finally fell asleep.
My dad still drives at eighty.
I bought flour and sugar.
Could you proofread my cover letter?
The archive is on the second floor.
We took the train to Porto last summer.
What's the deadline for tax returns?
He hates being late.
That spreadsheet took me all night.
Do you speak Portuguese?
The supplier was late again.
I'm having dinner with my colleague tonight.
Nobody likes waiting.
Set a timer for ten minutes.
Our bank closed two branches.
You're a lifesaver!
I need a new pair of shoes.
Where did I park the car?
The doorbell rang twice but there was no one there.
My paragraph sounds clumsy, doesn't it?
Open the portal and look up order 5512.
They should have told us earlier.
It's twenty degrees outside.
Only my sister remembered my birthday.
The diagnosis came as a shock.
I can't decide between the two.
We had to cancel the trip.
Please try that again with the other file.
The photos came out blurry.
Is coding hard to learn?
Someone stole my bike.
Pick a colour for the wall.
My card was declined.
She's on maternity leave until June.
The refund arrived today.
I think Wednesdays are the worst.
Tell me a fun fact about otters.
It never gets dark here in June.
Does this recipe work without eggs?
The tweet got a thousand likes.
I guess we should leave soon.
All my plants died over the summer.
What did legal say?
I always thought he was French.
Schedule a call with Tom for tomorrow at three.
No one picked up.
The invoice was wrong, they charged us twice.
I'm just looking around.
When does the shop close?
Make the title bold.
Guess who I met at the station.
He may come later.
There must be a mistake in row 7.
The stairs were slippery.
So that's how it works!
I want to learn how to sail.
Check if the flight is on time.
They want 80 euros for that, ridiculous.
My password didn't work this morning.
The tenants upstairs are having a party.
Our choir sang in Prague last year.
Did you see the trailer?
This wine is too sweet for me.
Bella chased a squirrel up the tree.
How many donors do we have?
I'll be back on Friday.
The bride looked stunning.
My son lost his school bag again.
Is the blue one in stock?
I like both colours.
Can you read this out to me?
How much is that in pounds?
She has an unusual surname.
What song is this?
The door was wide open.
Where did you find that?
We opened a bottle to celebrate.
They never replied to my complaint.
Flowers are so expensive these days.
The pipeline failed twice.
Tuesday works for me.
I speak a little French.
Half the team was laid off in May.
What was his first name again?
Attach the file and send it.
The kids loved the zoo.
It was an emergency, so we called a taxi.
My car is in the garage.
Delete the last line.
A parcel came for you.
The ceremony starts at seven.
Who is the client?
I counted them and got 14.
We saw three deer on the way home.
You spelled it wrong.
I joined the group last week.
The price went up again.
Great photo, who took it?
My phone rang during the video.
He asked me not to go.
I wonder if it will snow.
Let me think about it.
Suggest a title for the talk.
Nobody knew the answer.
That must be the postman.
Remember that restaurant in Lisbon?
I only wanted to help.
Everything was closed on Sunday.
Compare the two offers for me.
I was supposed to call her back.
The game was cancelled at the last minute.
There's nothing on TV.
Try it without the filter.
My neighbour always waves at me.
I need to lie down.
Add a row for April.
It doesn't matter.
Which one do you prefer?
The judge wore a red tie.
My knees hurt after the run.
Dr. Lind was on holiday.
What does this abbreviation stand for?
The museum was packed.
Our neighbours are drilling again.
I love that emoji.
How do I get to the airport?
They paid in cash.
Did anybody ask a question?
The credits were longer than the film.
Which drug did he take?
It's a public holiday in Spain.
I deleted the recording by mistake.
We found old letters in the attic.
Number 12 is missing.
I signed it this morning.
The driver got lost.
It was minus ten outside.
The markets fell sharply today.
My wife painted the kitchen.
The attachment won't open.
He drinks too much soda.
That quote is from Goethe.
The agency closed last year.
Set a reminder for six o'clock.
Where are the flyers?
The test passed on the second try.
Give me a summary of the meeting.
Our lawyers won the case.
A letter from the tax office arrived.
They promised to deliver on Monday.
What appointments do I have this afternoon?
The meeting lasted forever.
He was rude to me.
That was cheap!
I already paid the electricity bill.
Is it raining?
They offered me a job.
The page won't load.
I lost my spare key.
My friend only buys second-hand clothes.
She must have forgotten.
We're thinking of moving to the coast.
I'm too tired to cook.
Play something by Bach.
Rename the file to notes.txt.
Everyone was there except Tom.
He always takes the stairs.
Our flight leaves in an hour.
Who is going to drive?
I have never been to Canada.
The soup needs pepper.
Put it on the second shelf.
There were no seats left.
You look great today.
I can't remember the title.
Let me know what he says.
Nothing happened in the end.
I might be a bit late.
The battery is nearly empty.
My wife's birthday is in May.
The train was full.
Who translated this book?
Our landlady is from Crete.
I read the draft last night.
Express delivery took a week, ironically.
Alex called.
The company bought new cars.
I love the layout!
What's ten times twelve?
The magazine comes out on Thursday.
How old is he?
The order arrived broken.
I can't find the phone number on the website.
My Mac crashed.
Easter is early this year.
I had three meetings today.
The customer was very angry.
He greeted me warmly.
We changed the schema last week.
The interns brought cake.
I had enough.
This coffee is cold.
Lena gave a great interview.
Is that heading bold?
They delivered on a Saturday.
I got added to some group chat.
Shipping was free.
The parcel went to the wrong address.
The second floor is being renovated.
She's allergic, apparently.
Unzip the folder and show me what's in it.
Prices went through the roof.
Could you take notes for me in the call at four?
The tank is almost empty.
The donors were delighted.
We used to live there.
What's a treasurer?
My son is ten.
The tests took an hour.
I'd go if I were you.
Both of them are wrong.
Well, that was unexpected.
It's raining cats and dogs.
I'm stuck on question four.
Draw a cat.
The film was way too long.
Call the restaurant and ask if they have a table.
We'll see.
I was only joking.
You said that already.
Has anyone seen my glasses?
The bus never comes on time.
There used to be a bakery here.
Nothing new from the bank.
I feel much better now.
They had no choice.
He's the one who broke it.
My flight got delayed, so I'm still in Oslo.
Sort these names alphabetically.
""".strip().splitlines()

PASSING_ZH = """
去杭州的高铁几点开？
帮我找一趟九点前到的车。
中午吃的面太咸了。
我妹妹总是在最不方便的时候打电话来。
你能打开第二个附件吗？
昨天的会开了三个小时。
谢谢，真快！
你知道构建为什么失败吗？
今天早上只来了两个客户。
那部电影我从来都不喜欢。
他说他六点前必须到家。
我们再看一下第三行。
能告诉我什么是闭包吗？
打印机又不工作了。
我重启过了，没用。
给我订今晚四个人的位子。
她叫他不要担心。
星期天那里可以停车吗？
这一周天气都很糟糕。
把这一页总结一下。
怎么才能不让猫进草坪？
我要给侄子买个生日礼物。
找钥匙找了半天。
那个函数返回的是列表，不是字典。
看一下上次运行的日志。
我们是2014年搬来的。
为什么什么事都要这么复杂？
我觉得第二稿更好。
聚会一个人都没来。
邻居养了条新狗，整晚都在叫。
把最后一段翻译成法语。
报告本来应该周二交的。
好的，继续吧。
我只是好奇才问的。
索引的事你说对了。
第十二行有个错别字。
你听说过林迪效应吗？
博物馆的讲解员不让我们拍照。
给我讲个笑话吧。
打到一半手机没电了。
UTC和GMT有什么区别？
换小一点的批次再试试。
蛋糕还要再烤十分钟。
那家酒店只收现金，真麻烦。
提醒我一下周一我们定了什么。
我当时应该听你的。
新来的实习生干得不错。
下雨了，我们就没出门。
这两个方案哪个便宜？
要是有更多时间看书就好了。
服务器返回了两次502，然后好了。
他们一直没回我的信。
比较一下这两个文件。
孩子们今天不用上学。
我一直想去冰岛看看。
医生让我叔叔少吃盐。
给面包店起三个名字。
应该没什么事，别担心。
电影里谁都不许说话。
等等，我不是这个意思。
免费版能调用多少次？
轮渡因为台风取消了。
导师挺喜欢第二章的。
照片我星期天发出去了。
能帮我查一下药店几点开门吗？
奶奶上周过了九十大寿。
钢琴走音走得厉害。
我在看一本讲灯塔守护人的小说。
她连坐浴缸都会晕。
换了你会怎么做？
值班的护士人特别好。
给我画一张上个月的销售图。
飞机飞过雪山，景色太美了！
他觉得红色适合他。
冰箱里只剩两个鸡蛋了。
40英里换算成公里是多少？
我弟从来不接电话。
账单忘了交，他们就发了催款单。
博物馆周一关门吗？
找一下中午之前去里昂最便宜的火车。
改时间的事没人告诉我。
不知道他们用的是哪种字体。
小时候老师让我们什么都抄两遍。
转账花了三天才到。
朱迪回电话了吗？
我在部里等了两个小时。
隔壁那几个中学生总是很吵。
你一定被我问烦了吧。
第一句改一下，读起来怪怪的。
票我昨天都买好了。
整场演讲就那一个笑话。
说实话我更想去海边。
瑞士法郎的代码是什么？
这份报告有十二页。
有空我们去爬山吧。
我家狗什么都吃。
打开窗口菜单，告诉我你看到什么。
我一洗车就下雨。
那家店三月份关了。
我能带朋友来吗？
没想到来了这么多人。
这个菜谱要用两个洋葱。
把刚才那封再发一遍，我没收到。
老板说她再考虑考虑。
好想喝杯茶。
解释一下租赁和贷款有什么不同。
重置密码的邮件一直没来。
有两个学生迟到了。
到目前为止都挺正常的。
这个比那个好。
我到处都找不到眼镜。
听说在日本进屋要脱鞋。
第二个方案贵一些。
晚安，明天见。
先看看数字怎么说。
医生今天晚点了。
最后一分钟我们赢了！
闹钟怎么没响？
我在维也纳待到周四。
发票应该在你的邮箱里。
我明天有什么安排？
风一大门就吱吱响。
票我早上打出来了。
安娜特别喜欢那个聚会。
我们中午在菜市场吃的。
能看一下周末的天气吗？
他只吃面条，你敢信？
暖气又坏了。
我家猫把花瓶打翻了。
看看车站附近有哪些酒店。
我昨晚一点都没睡着。
昨天谁赢了？
高速完全堵死了。
实验室周六开门吗？
她一直没读完大学。
我周四要去看牙。
我们的打印机打什么都是粉色的。
写一首关于秋天的短诗。
孩子们想要一个树屋。
我大概该给我妈打个电话。
找一下下周去波尔图两百欧以下的机票。
记者都在外面等着。
那个肯定很贵。
把三月份的数字给我。
简报有三千个读者。
这不是违反规定吗？
他被告知那里不能拍。
他们主场总是输。
今天什么都不顺。
工会号召罢工了。
备份一般要多久？
我把伞落在公交车上了。
下班以后我们可以碰一下。
保险全赔了。
就是看看你在不在。
我先生打呼噜。
把这个清单变成表格。
牛奶没了。
没想到都这么晚了。
讲座只来了三个人。
我们聊点别的吧？
酱汁还差一点盐。
办公室里人人都感冒了。
从上面能看到海。
他一直说个不停。
座位真的很不舒服。
都忘了这首歌有多好听。
这个缩写是什么意思？
每次打过去都占线。
我想坐早一点的那班车。
供应商发错货了。
随便问我！
猫会做梦吗？
新同事周一入职。
不是，我说的是另一个。
我要是你就卖了。
谢谢你告诉我。
没有咖啡我什么都干不了。
银行就在面包店旁边。
这几个哪个更大？
机场停车多少钱？
宝宝终于睡着了。
我爸八十了还在开车。
我买了面粉和糖。
能帮我看看求职信吗？
档案室在二楼。
去年夏天我们坐火车去了波尔图。
报税截止到哪天？
他最讨厌迟到。
那个表格我弄了一晚上。
你会说葡萄牙语吗？
供应商又迟到了。
我今晚跟同事吃饭。
谁都不喜欢等。
定一个十分钟的闹钟。
我们这的银行关了两家分行。
你真是救了我一命！
我得买双新鞋。
我把车停哪儿了？
门铃响了两次，可是外面没人。
我这一段写得有点别扭吧？
打开系统查一下5512号订单。
他们应该早点告诉我们的。
外面二十度。
只有我妹妹记得我的生日。
诊断结果出来吓了一跳。
这两个我拿不定主意。
我们只好把行程取消了。
换另一个文件再试一次。
照片都拍糊了。
写代码难学吗？
有人偷了我的自行车。
给墙挑个颜色。
我的卡被拒了。
她休产假休到六月。
退款今天到账了。
我觉得周三最难熬。
讲一个关于水獭的冷知识。
这里六月天都不黑。
这个做法不放鸡蛋行吗？
那条微博有一千个赞。
我们该走了吧。
一个夏天我的花全死了。
法务怎么说？
我一直以为他是法国人。
明天三点跟小汤约个电话会。
没有人接。
发票开错了，多收了一次钱。
我就随便看看。
店几点关门？
把标题加粗。
猜猜我在车站碰到谁了。
他可能晚点来。
第七行肯定有问题。
楼梯好滑。
原来是这么回事！
我想学帆船。
看看航班准不准点。
他们要八十欧，离谱。
今天早上我的密码不好使。
楼上的租客在开派对。
我们合唱团去年去布拉格演出过。
预告片你看了吗？
这个酒我觉得太甜了。
贝拉把松鼠追到树上去了。
我们有多少捐款人？
我周五回来。
新娘漂亮极了。
我儿子又把书包弄丢了。
蓝色的有货吗？
两个颜色我都喜欢。
能念给我听听吗？
那个折合多少英镑？
她的姓很少见。
这是什么歌？
门大开着。
你在哪儿找到的？
我们开了一瓶庆祝。
我投诉了他们一直没理。
最近花贵得要命。
流水线挂了两回。
周二我可以。
我会说一点法语。
五月份裁了一半的人。
他叫什么来着？
把文件附上发出去。
孩子们特别喜欢动物园。
当时情况紧急，我们就打了车。
我的车在修。
删掉最后一行。
有你的一个快递。
典礼七点开始。
客户是谁？
我数了一遍，十四个。
回家路上看到三只鹿。
你拼错了。
我上周进的群。
又涨价了。
照片真好，谁拍的？
开视频的时候手机响了。
他叫我别去。
不知道会不会下雪。
让我想想。
给讲座想个标题。
没人知道答案。
应该是邮递员来了。
还记得里斯本那家餐馆吗？
我只是想帮忙。
星期天什么都关门。
帮我比一下这两个报价。
我本来该给她回电话的。
比赛临时取消了。
电视没什么好看的。
去掉筛选再试试。
邻居每次见我都打招呼。
我得躺一会儿。
四月加一行。
没关系。
你喜欢哪一个？
法官系了条红领带。
跑完步膝盖疼。
林医生休假去了。
这个缩写是什么的简称？
博物馆里人挤人。
邻居又在打电钻。
那个表情太可爱了。
去机场怎么走？
他们付的是现金。
有人提问吗？
演职员表比电影还长。
他吃的什么药？
西班牙今天放假。
录音不小心被我删了。
我们在阁楼里找到几封旧信。
少了十二号。
我今天早上签的字。
司机迷路了。
外面零下十度。
今天股市大跌。
我太太把厨房刷了一遍。
附件打不开。
他汽水喝太多了。
这句话是歌德说的。
那家旅行社去年关门了。
六点叫我一下。
传单在哪儿？
第二次测试过了。
会议内容给我总结一下。
我们的律师赢了官司。
税务局来了一封信。
他们答应周一送到。
我今天下午有什么约？
会开得没完没了。
他对我很没礼貌。
真便宜！
电费我已经交了。
在下雨吗？
他们给了我一份工作。
网页加载不出来。
我把备用钥匙弄丢了。
我朋友只买二手衣服。
她肯定是忘了。
我们在考虑搬到海边去。
累得不想做饭。
放一首巴赫的曲子。
把文件名改成notes。
除了小汤大家都在。
他总是走楼梯。
我们的飞机一小时后起飞。
谁开车？
我没去过加拿大。
汤里要加点胡椒。
把它放在第二层架子上。
一个座位都没有了。
你今天真好看。
书名我想不起来了。
他说了什么告诉我一声。
最后什么都没发生。
我可能会晚一点。
电池快没电了。
我太太五月过生日。
火车上挤满了人。
这本书谁翻译的？
房东是克里特人。
稿子我昨晚看了。
加急还等了一个星期，真讽刺。
阿历克斯来过电话。
公司买了新车。
这个版式我喜欢！
十乘十二等于多少？
杂志周四出刊。
他多大了？
货到的时候是坏的。
我在网站上找不到电话号码。
我的电脑死机了。
今年复活节挺早的。
我今天开了三个会。
那个客户特别生气。
他热情地跟我打了招呼。
表结构上周改过。
实习生带了蛋糕来。
我受够了。
这咖啡凉了。
莉娜的采访很精彩。
那个标题是粗体吗？
他们周六送的货。
我被拉进了一个群。
运费是免的。
包裹寄错地址了。
二楼在装修。
她好像过敏。
解压一下看看里面有什么。
价格涨疯了。
四点的电话会帮我记一下。
油箱快空了。
捐款人特别高兴。
我们以前住那儿。
财务主管是做什么的？
我儿子十岁。
测试跑了一个小时。
我要是你我就去。
两个都错了。
哎呀，真没想到。
雨下得好大。
我卡在第四题了。
画一只猫。
电影太长了。
给餐厅打个电话问有没有位子。
再看吧。
我开玩笑的。
你已经说过了。
有人看见我的眼镜吗？
公交车从来不准时。
这里以前有家面包店。
银行那边没什么消息。
我现在好多了。
他们也没办法。
是他弄坏的。
航班晚点了，我还在奥斯陆。
这些名字按字母排一下。
""".strip().splitlines()

FRESH_EN = """
The nursery must be told about every change of pick-up person.
I'm saving for a house, so choose the cheaper option when in doubt.
Please write to my publisher in French.
Our servers reboot on Sunday nights, so run nothing long then.
You can throw out newsletters unread.
Swimming is fine, diving isn't.
I want to approve the wording of all job ads.
Nobody under 16 can sign up without a parent.
Footnotes, not endnotes.
Never book row 13, my husband is superstitious.
Give distances in miles.
My phone is on silent until ten.
We have a nut-free kitchen.
Anything that touches payroll has to wait for Gina.
If two sources disagree, mention both.
The old logo shouldn't appear anywhere.
I'd like fewer notifications.
Keep receipts for seven years.
Don't use my photo without asking.
Hotels need to have a gym.
We pay freelancers within two weeks.
Leave at least an hour between appointments.
Would it be possible to get everything in large print?
As a rule I don't lend books.
Our readers hate jargon.
The trial account may only be used for demos.
No discount over ten percent unless Mike agrees.
Let the customer finish before you answer.
My bank details are not for sharing.
Start every letter with the file number.
I trust your judgement on small purchases.
Cc my assistant on travel matters.
Answers can be short.
It is forbidden to feed the animals in our photos' captions, too.
Tax documents stay in the safe.
Double-check names of patients.
We speak about "members", not "users".
I'm off on Wednesdays.
Pick suppliers nearby if you can.
Avoid the word "problem" in front of clients.
""".strip().splitlines()

FRESH_ZH = """
换人接孩子一定要告诉幼儿园。
我在攒钱买房，拿不准就选便宜的。
给出版社写信请用法语。
服务器周日夜里重启，那时候别跑长任务。
推广邮件不用看，直接扔掉。
游泳可以，潜水不行。
招聘广告的措辞都要我同意。
十六岁以下没有家长不能注册。
用脚注，不用尾注。
千万别订十三排，我先生迷信。
距离用英里表示。
我手机十点前都是静音。
我们的厨房不含坚果。
跟工资有关的都要等吉娜。
两个来源说法不一样就都写上。
旧标志哪儿都不该出现。
通知希望能少一点。
收据要留七年。
没问过我不要用我的照片。
酒店得有健身房。
自由职业者的款两周内要付。
两个预约之间至少隔一小时。
能不能都用大号字？
我一般不借书给别人。
我们的读者讨厌行话。
试用账号只能用来演示。
折扣超过一成要迈克同意。
让客户说完你再回答。
我的银行信息不能给别人。
每封信开头都写上档案号。
小额采购你看着办。
出差的事抄送我助理。
回答可以短一些。
图片说明里也不许提喂动物。
税务文件放在保险柜里不要拿出来。
病人的名字要核对两遍。
我们说“会员”，不说“用户”。
我周三休息。
供应商尽量找附近的。
客户面前别说“问题”这个词。
""".strip().splitlines()

FRESH_TALK_EN = """
The nursery is closed this week.
We finally bought a house.
My publisher loved the new chapter.
The server went down at midnight.
I get too many newsletters.
Do you like swimming?
I saw the job ad yesterday.
How old do you have to be?
The footnotes are a mess.
Row 13 was empty.
How many miles is it?
My phone is dead.
This kitchen is tiny.
Gina is on holiday.
Which source is that from?
The logo looks dated.
I got forty notifications overnight.
Where did I put the receipt?
That's a nice photo of you.
The gym was closed.
I used to be a freelancer.
My appointment is at two.
The print is too small to read.
Can I borrow your book?
Half the readers skipped the intro.
The trial ends tomorrow.
Mike gave me ten percent off.
The customer left a nice review.
What's my account balance?
She started the letter three times.
I bought two small things.
My assistant is sick.
That was a short answer.
They fed the ducks.
The safe was open.
Who was the patient?
He used to be a member.
I met her on Wednesday.
Search for suppliers near Leeds.
What's the problem?
I'm so hungry.
Rotate the picture by ninety degrees.
The bread is in the oven.
Someone rang at the door.
You're right, my mistake.
Run the script once more.
I was stuck in traffic.
Wow, that's huge.
We might move next year.
Are you sure?
I have two brothers.
They sang all night.
Count the words in this text.
It took them ages.
Her answer surprised me.
I think it's the third door.
Tell me about Oslo.
The neighbours moved out.
He has to work tonight.
Maybe later.
""".strip().splitlines()

FRESH_TALK_ZH = """
幼儿园这周放假。
我们终于买房了。
出版社很喜欢新的一章。
服务器半夜挂了。
推广邮件太多了。
你喜欢游泳吗？
我昨天看到那个招聘广告了。
要多大才行？
脚注乱七八糟的。
十三排是空的。
一共多少英里？
我手机没电了。
这厨房好小。
吉娜在度假。
这是哪个来源的？
标志看着有点旧。
一晚上来了四十条通知。
收据我放哪儿了？
你这张照片真好看。
健身房关门了。
我以前是自由职业。
我约的是两点。
字太小看不清。
能借我你那本书吗？
一半读者跳过了引言。
试用明天到期。
迈克给我打了九折。
客户留了个好评。
我账户里还有多少钱？
那封信她写了三遍。
我买了两样小东西。
我助理病了。
回答得真短。
他们喂了鸭子。
保险柜开着。
病人是谁？
他以前是会员。
我周三见过她。
搜一下利兹附近的供应商。
怎么了？
我好饿啊。
把图片转九十度。
面包在烤箱里。
有人按门铃。
你说得对，是我弄错了。
脚本再跑一次。
堵车堵死了。
哇，这么大。
我们明年可能搬家。
你确定吗？
我有两个哥哥。
他们唱了一晚上。
数一下这段有多少字。
他们弄了好久。
她的回答让我很意外。
我觉得是第三个门。
跟我说说奥斯陆。
邻居搬走了。
他今晚得加班。
回头再说。
""".strip().splitlines()
