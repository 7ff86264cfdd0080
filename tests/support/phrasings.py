"""Ways to bind an assistant without the usual words, and talk that uses the usual words and binds nobody.

`INDIRECT_*` and `CHAT` were written before the patterns that find them, and the patterns were tuned on them. `UNSEEN_*`
were written after that, and later patterns have seen them; what none has seen is in `standing`.
"""

from __future__ import annotations

INDIRECT_EN = """
I'd rather you didn't mention the merger to anyone.
It has to stay below the credit limit at all times.
See to it that nobody outside legal gets the draft.
The staging cluster is the only place you get to touch.
Treat the customer list as confidential.
My husband isn't to find out about the booking.
Anything in the archive folder is off the table.
No matter who asks, the salary sheet stays locked.
It would be best not to wake the baby, so no phone calls.
I need you to run everything past Petra before it leaves the building.
Deleting rows is a no-go.
Let's keep the vendor's name out of this.
Whatever you send has to carry the project logo.
The draft is for my eyes only.
You'll want to get sign-off from compliance prior to publishing.
Hold off on the payment till the goods have arrived.
I can live with a stopover, but not with an overnight one.
Window seats are a must.
Cancellation has to be free of charge.
As long as the tests are red, nothing gets deployed.
You have my blessing to retry failed jobs on your own.
Feel free to skip the greeting in your replies.
There is no need to ask before reading files.
I won't accept a hotel without a lift.
I expect a reply to every customer within the day.
My doctor has me off salt, so plan the meals accordingly.
Mornings are out of the question for me.
Under no circumstances is the master key to be copied.
The client is not to be billed for the second visit.
Please see that the windows are shut before you arm the alarm.
Should the server go down, page Miriam first.
In the event of a conflict, the contract prevails.
Whichever option you pick, it must be refundable.
Cheaper is better, but comfort comes first.
We're vegetarians, all of us.
All links should open in a new tab.
You are to report only to Oksana.
By Friday at the latest I need the slides.
Everything you write goes through spellcheck first.
I'd like you to always quote the source.
Steer well clear of the old payment module.
Be sure that the attachment is encrypted.
I would appreciate it if you kept the tone formal.
The money can't come out of the travel budget.
Nobody gets added to the channel without my say-so.
Our policy is to refund within a week.
Kindly do without exclamation marks.
Let me see the text before it goes live.
On weekends the office must not be disturbed.
For security reasons, external storage is disallowed.
Don't you dare push straight to main.
The photos mustn't show any faces.
Anything but a red-eye flight, please.
If it rains, move the party indoors.
Only once the deposit has cleared may you hand over the keys.
Try not to book anything with a connection in Doha.
Keep Yusuf in the loop on every change.
It's imperative that the ledger balances.
Rather than guessing, tell me that you don't know.
The server is to be patched at night, never in office hours.
I don't do early meetings.
Give me the short version every time.
Nothing goes to print without two pairs of eyes on it.
Spare me the disclaimers from here on.
Our accountant requires receipts for everything.
Assume that I have no admin rights.
Stay off the production box.
You may not, in any case, share the recording.
Get at least a second quote before you commit.
It's fine to use cookies, but no fingerprinting.
I'd prefer that you leave my assistant out of the thread.
The total has to come in below what we paid last year.
Make certain the door codes never appear in writing.
Whatever the reason, the beta build stays internal.
You're not to open the sealed envelopes.
Talking to the press is strictly Helga's job.
It is vital that the samples stay frozen.
The board isn't supposed to hear of it before the vote.
I'd be grateful if you used the metric system.
My son can't have gluten, keep that in mind for every recipe.
Please hold my calls until the audit is over.
Unless Bogdan signs off, the release is on hold.
Getting the landlord involved is not something I want.
Clear any expense with finance beforehand.
Refunds may only be issued to the original card.
Ground-floor rooms only, my mother uses a wheelchair.
You needn't copy legal on the routine mails.
You're welcome to reorder the chapters as you see fit.
Going over the allotted hours is not acceptable.
The tone must remain neutral throughout.
I can't stand smoking rooms, so none of those.
Before anything is erased, a backup has to exist.
Prices are to be shown with tax included.
It's essential for the label to be readable from afar.
Wherever possible, choose the train.
Should you run into an error, stop and report it.
The old logo must be nowhere in the deck.
Our house rule: shoes off at the door.
Let no one but Ingrid approve the invoices.
I want to be told before any order goes out.
Do whatever it takes, short of waking up the on-call engineer.
Every figure needs a source next to it.
I'd hate for the neighbours to be bothered, so keep the noise down.
The password is never to be sent by mail.
Restrict yourself to peer-reviewed papers.
Vendors without a certificate are excluded.
In no event may the data leave the country.
This stays between you and me.
Please be so kind as to answer in full sentences.
Only the night shift has permission to restart the pumps.
You can go ahead and merge small fixes yourself.
Limit attachments to one per message.
If in any doubt, escalate to Rahel.
The shipment must be there before the weekend.
No one under age is to be signed up.
Hiring is frozen, so don't post any openings.
Would you please refrain from calling my landline?
I insist on a direct connection.
The script has to run without root privileges.
We never ship batteries by air.
Always run it by me first.
Don't let the queue grow beyond a hundred entries.
Please do not, for any reason, alter the timestamps.
Avoiding tolls matters more to me than speed.
A quiet room is non-negotiable.
Stick with the vendor we have.
Cc my deputy whenever I'm away.
Emails to the ministry require my signature.
For now, leave the old endpoints running.
Once the budget is used up, stop.
You should by all means keep the originals.
I'm on a tight budget, so nothing fancy.
Do your testing on a copy, not on the original.
Spell the company name in capitals, without exception.
The deadline can't be pushed back any further.
Read access is all you get.
Nobody is allowed to see the bids before the opening.
The minutes have to be out the same evening.
Take care that the two teams never share a room.
I'm only available in the afternoons.
The floor plans are for the architects and nobody else.
Ask Tobias if anything is unclear, not me.
My mother mustn't learn of the diagnosis from a letter.
It'd be better to leave the headline alone.
The crew has strict orders to be off site at dusk.
Please see to it that the dog gets no chocolate.
You have free rein over the layout.
Don't count on me picking up the phone at night.
The wine has to come from the region.
I'm not comfortable with you storing my passport.
Please keep this conversation to yourself.
The keynote is not to run over its slot.
We can't do Thursdays.
Every change request goes through the board.
Leave no open ends in the contract.
I'd be happier if the hotel had a pool, but it's not a must.
Make it a habit to quote the ticket in the subject line.
If the carrier is late again, switch to another one.
Until the lawyers are done, say nothing to the tenants.
Only bother me if the house is on fire.
My preference goes to the earlier slot.
No shellfish whatsoever.
The draft mustn't leave this folder.
You're free to pick the colours.
Whoever calls, tell them I'm away.
Under all circumstances keep the receipts.
I don't need you to explain every step.
Please, nothing with nuts.
The replica should be the only database you query.
What I tell you about my health stays here.
Give priority to customers who wait the longest.
Be brief.
Each invoice has to be countersigned.
It's off limits for interns.
Take the back entrance, the front is being painted.
Mind that the quote expires on its own.
Come what may, the embargo holds.
Have every translation checked by a native speaker.
I want the summary in plain language.
Delivery to the neighbour is okay if I'm out.
Before you touch the config, make a copy of it.
Quiet hours must be respected.
Don't bother with the appendix.
Nothing I say here may be quoted.
My knees are bad, so avoid stairs.
We're not to exceed the quota.
Do not take no for an answer from the insurer.
Always round in the customer's favour.
Better safe than sorry: back up first.
All correspondence is to go through our lawyer.
Grandma can only chew soft food.
The thermostat isn't to go above comfort level.
My lawyer advised me against signing anything by mail.
The playlist has to be free of swear words.
I'd ask you not to use my middle name.
Please see the tenants are warned a day ahead.
Guests with dogs go to the annex, all others to the main house.
Don't feed the script real customer records.
If they haven't answered by Wednesday, drop them a reminder.
There must not be any gaps in the numbering.
Keep the receipts, the auditor will want them.
Anyone without a badge has to be escorted.
You're forbidden to buy on margin.
Under no pretext may the seal be broken.
I would hate it if the surprise leaked.
Reply to all, always.
My knees won't take more than a short walk.
We agreed on a fixed price, and that is what I will pay.
Choose the slower route if it avoids the tunnel.
The essay may be handed in late, but not without a note.
Nobody may be fired over this.
A child seat is compulsory.
Please ask for a receipt whenever you spend my money.
Leave my calendar alone on Sundays.
Send the contract only after both sides have initialled it.
The tests are allowed to fail on the old branch.
I trust you to keep this quiet.
Don't quote me.
It should under no condition read like an advert.
Use the formal address with Ms Okafor.
Please check with the pharmacist before swapping any pill.
The newsletter needs an unsubscribe link.
For legal reasons, the word "guarantee" must not appear.
Turn off the water before leaving.
I only fly out of Lisbon.
Hand the parcel to nobody but my brother.
The password policy forbids dictionary words.
You should get three quotes, then come back to me.
As far as the press is concerned, we have no comment.
He has a pacemaker, so no magnetic locks.
Your answers should be no longer than a tweet.
I refuse to work with that agency again.
Every now and then, remind me to stretch.
Cite only primary sources.
It's alright to round, as long as you say so.
Put safety before speed.
The garage must be kept locked.
I can do without dessert, but I need my coffee early.
Whichever vendor wins, the data stays on our servers.
Please don't make me repeat my address.
The samples may only be opened under the hood.
Grant nobody write access to the ledger.
I'm lactose intolerant, so mind the sauces.
Use the old template for anything that goes to Brussels.
My landlord doesn't allow barbecues on the balcony.
Please wait for the courier's call before you leave the house.
The choir is not supposed to rehearse past ten.
All refunds have to be signed off by two managers.
I'd prefer we didn't discuss salaries over chat.
Don't translate the product names.
If the train is cancelled, take a taxi at my expense.
The car isn't insured for other drivers.
You can use my card for fuel, but for nothing else.
Alt text is required on every picture.
Save the receipts in the shared folder.
Never leave the child unattended at the pool.
Unless it's urgent, write instead of calling.
I have to leave by noon at the latest.
Be careful not to wake the neighbours.
We only ship within the EU.
The speech has to be kid-friendly.
Do the backups at night so that nobody is slowed down.
It's up to you which hotel, as long as it has parking.
No guests after the second of the month.
Our insurance demands a police report for every theft.
Don't rely on the weather forecast.
I need a vegetarian option at every meal.
Always lock the cabinet when you step out.
Keep my ex-husband out of the guest list.
The lease forbids subletting.
I would like the report without any charts.
Only forward mails that are marked urgent.
The limit applies to weekends too.
What happens in the workshop stays in the workshop.
Try to avoid motorways.
Everything has to be paid in cash.
At no point should the valve be opened by hand.
Interns aren't allowed in the lab.
Stop sending me reminders.
You must not, however, change the totals.
I'd like to be called before anyone visits.
The tablets are to be taken with food.
Please hand in the keys personally.
Nobody gets a discount, not even friends.
Let's stick to the agenda.
As a matter of principle, we don't lend money.
The font must match the brand guide.
I can't have any caffeine after lunch.
You may skip the intro if time is short.
Check the spelling twice before printing.
The horses must be walked twice a day.
Kindly route every complaint through Bettina.
My passport number stays out of your notes.
Paint nothing until the surveyor has been.
The hall is booked for us only till ten.
I'd feel better if you double-checked the dosage.
If a refund exceeds the order value, flag it.
No swearing in the comments.
You don't get to decide on the venue.
Trains are fine, buses are not.
Have the courier ring twice.
Whenever the host asks for a tip, decline politely.
The lights go out at eleven, no discussion.
Put the client's wishes above ours.
I only read mails in the morning.
The password resets are Farid's business, don't touch them.
Please stick to what the contract says.
Samples older than a week are to be discarded.
We pay on delivery, never before.
My hearing is poor, so write rather than phone.
Without two signatures the cheque is void.
Ring the doorbell only once.
It needs to fit in hand luggage.
Don't even think about selling the shares.
The cover letter has to mention the grant.
You're allowed one reminder per customer.
Make the buttons large enough for thumbs.
Anything medical goes straight to Dr. Amin.
Hold the reservation until I've spoken to my wife.
Book a table by the window, otherwise none.
The archive is read-only for everybody.
I want no part of the loyalty programme.
Give the dog his pill with food.
At the end of every session, log out.
From Monday on, all reports go out in English.
The choice of colours is yours.
Please leave religion out of the speech.
Nothing may be thrown away without asking Lena.
Answer in the language you were asked in.
Only in an emergency may the lift be used.
The goats must not get into the orchard.
I'd be grateful for short answers.
Ship the spare parts by sea, air freight is too dear.
No one touches the thermostat except me.
If the patient complains of dizziness, stop the drip at once.
You can book whatever you like up to my limit.
My wife is to be asked before we invite anybody.
Our house rules forbid smoking indoors.
Please label each box on two sides.
The grant money is for travel only.
Don't assume that silence means yes.
Work from the signed version, never from the draft.
Photos of the children are not for the website.
Deliver to the back door unless it's raining.
The interview should not take longer than an episode of my show.
Let the dough rest overnight.
I can only eat soft food after the operation.
The subtitles have to match the spoken text.
Nothing is to be ordered from that supplier again.
Address the letter to both owners.
You have my permission to open my mail.
Ideally, the room faces the garden.
Refuse any call that comes without a number.
Use no more tape than you need.
The choir loft is closed to visitors.
Our deal was that you ask first.
Make sure that the gate is shut.
By no means forward this to the board.
I would prefer it if you wrote by hand.
Take only what is on the list.
Passengers with prams board first.
Whatever the weather, the march starts on time.
""".strip().splitlines()

INDIRECT_ZH = """
切勿把内部价格告诉客户。
除非主管签字，否则不要付款。
一切以合同原件为准。
图片一律不加水印。
麻烦你不要再发短信给我。
这件事只有你我知道，别往外说。
希望你能先打招呼再改日程。
上线前得让测试组过一遍。
凡涉及退款的，都转给财务。
严格按照模板填写。
我妈腿脚不便，楼层不能太高。
任何情况下都不得重启主库。
没有书面同意，谁都不能导出数据。
宁可慢一点，也别出错。
尽量别安排在上午。
合同里不得出现个人电话。
你可以自行决定配图，不用问我。
允许你直接修改草稿。
遇到投诉，第一时间通知我。
一旦超支就马上停下来。
价格再高也不能动那笔备用金。
靠窗就行，中间的座位不考虑。
必须走审批流程。
我不接受任何形式的转包。
文中涉及人名的地方用代号代替。
邮件主题里请加上项目名。
客人对海鲜过敏，菜单里要避开。
照片不能露脸。
最好能在月底之前搞定。
只认发票，不认收据。
语气客气一点，别太生硬。
凡事先跟我商量。
会上别提裁员的事。
密钥不可以写在代码里。
以后都用腾讯会议开会。
预算有限，能省则省。
千万记得关掉自动续订。
工程师在休假，非紧急情况勿扰。
不到万不得已不要动生产环境。
哪怕客户催，也要等质检结果。
切不可擅自更改交货地址。
若无我的授权，不得对外报价。
汇率以付款当天为准。
对外文件一律盖章。
拜托别把我的行程透露出去。
此事仅限项目组内部讨论。
改动之前先跟老周确认一下。
发给客户之前务必校对一遍。
凡是超出预算的开支都要报批。
请严格遵守保密协议。
我爸血糖高，点菜时少糖少油。
无论如何都不要删除原始录音。
未得到批准前，任何人不得进入机房。
宁缺毋滥，不合格的一个都不要。
能不打扰王总就别打扰他。
文档里禁止出现客户真名。
小的改动你自己拿主意就行，无须汇报。
你有权直接取消超时的订单。
如果对方压价，立即告诉我。
一旦发现异常，立刻停止发送。
再便宜也不住没有窗户的房间。
红眼航班就不考虑了。
所有变更须经过评审。
我不希望有人录音。
人名统一用拼音缩写。
回信时记得附上报价单。
家里有人对猫毛过敏，民宿要避开养猫的。
背景里不能出现竞争对手的标志。
周五下班前要给到我。
只收现金，不收支票。
措辞委婉些，不要指责对方。
大小事都得问过我再办。
这封信看完就销毁，不要转发。
数据库密码不允许明文存放。
今后报告统统用英文写。
费用能压就压，别选贵的。
出门前一定记得锁好保险柜。
假期里非必要不要联系我。
没跑完测试之前不许合并。
就算老板问起，也不要说出供应商是谁。
合同没签之前别发货。
请把抄送名单控制在组内。
我不方便接电话，有事留言。
任何改动都要留痕。
报销单必须附原始凭证。
千万不能让孩子一个人回家。
对外口径以公告为准。
非我本人签字一律无效。
麻烦以后不要用语音回复我。
拿不准的时候先问我。
只要涉及钱的，都得两个人核对。
不得以任何理由拖延退款。
房间朝南的优先。
允许你们周末加班，但要提前报备。
勿使用简称。
若超时未支付，自动取消订单。
除财务外，谁也不能看工资表。
晚上十点后请静音。
宠物不得入内。
一经发现泄密，立即终止合作。
我更倾向于坐高铁。
所有文件名都用英文。
凡是匿名邮件一概不回。
你可以直接联系供应商，不必经过我。
绝不能碰生产库。
最好别选顶楼。
请尽量避免使用术语。
仅在紧急情况下拨打这个号码。
先到先得，不预留。
务必保密。
不能晚于周五提交。
没有发票不予报销。
请始终使用敬语。
如遇下雨，改到室内举行。
这笔钱专款专用，不许挪作他用。
他对青霉素过敏。
任何人都无权更改密码。
下不为例。
尺寸以实物为准。
记得每天备份一次。
奶奶咬不动硬的，菜要软一点。
空调温度别调得太低。
律师叮嘱过，邮寄来的文件先别签。
歌单里不能有脏话。
请提前一天通知住户。
带宠物的客人一律住副楼。
周三前没回音的话，再催他们一次。
编号中间不许有空缺。
没戴工牌的必须有人陪同。
不得以任何借口拆封。
价格谈好了就按谈好的付，多一分都不给。
宁愿绕路也不要走隧道。
可以晚交，但得附说明。
必须配儿童座椅。
花我的钱都要开收据。
周日不要动我的日程。
双方签字后再寄出合同。
老分支上的测试允许失败。
这事儿先保密。
语气千万不要像广告。
称呼欧女士时用“您”。
换药之前先问药剂师。
邮件末尾要有退订链接。
出于法律原因，不得出现“保证”二字。
离开前关水。
我只从浦东机场出发。
包裹只能交给我弟弟。
密码不能用字典里的词。
多问几家，比完价再告诉我。
对媒体一律无可奉告。
他装了起搏器，不能过磁力门。
回答不要太长，三两句就行。
我不会再跟那家公司合作。
只引用一手资料。
取整没关系，说明一下就好。
安全第一，速度其次。
车库要随时上锁。
哪家中标都行，数据必须留在我们的服务器上。
别让我重复报地址。
药品须冷藏保存。
样品只能在通风橱里打开。
账本的写权限谁都不给。
我乳糖不耐，酱料要留意。
寄往布鲁塞尔的一律用旧模板。
房东不允许在阳台烧烤。
等快递员来电再出门。
合唱团晚上十点后不得排练。
所有退款须两位经理签字。
工资的事不要在群里聊。
产品名称不要翻译。
火车取消的话就打车，费用我出。
这辆车别人不能开。
我的卡可以用来加油，其他的不行。
每张图片都要有替代文字。
收据存到共享文件夹里。
绝不能让孩子单独待在泳池边。
不急的事发消息，别打电话。
我最晚中午就得走。
小心别吵醒邻居。
我们只发国内快递。
演讲内容要适合小朋友。
备份放在夜里做，免得影响别人。
住哪家酒店随你，有停车位就行。
月初两天不接待客人。
每一起失窃都要有报警回执。
天气预报不能全信，要留余地。
每餐都要有素菜。
离开时随手锁柜子。
宾客名单里不要有我前夫。
租约禁止转租。
报告里不要放图表。
只转发标了紧急的邮件。
周末同样适用这个限额。
尽可能不走高速。
一律现金支付。
任何时候都不得手动开阀。
实习生不得进入实验室。
别再给我发提醒了。
药要饭后吃。
时间不够可以跳过开场白。
马每天要遛两趟。
投诉全部转给贝蒂娜处理。
我的护照号不要记下来。
勘测员来之前什么都别刷。
场地我们只能用到十点。
剂量最好再核对一遍。
退款超过订单金额的要标出来。
评论里禁止骂人。
场地不由你决定。
火车可以，大巴不行。
让快递员按两次门铃。
主人要小费时请婉拒。
十一点准时熄灯，没有商量。
把客户的意愿放在第一位。
密码重置归法里德管，你别插手。
请按合同约定执行。
超过一周的样品一律销毁。
货到付款，绝不预付。
我耳背，写信比打电话好。
没有两个人签字，支票无效。
行李要能带上飞机。
股票想都别想卖。
申请信里必须提到基金。
每位客户只许提醒一次。
按钮做大一点，方便拇指点。
跟医疗有关的直接找阿明医生。
等我跟太太商量完再确认预订。
要么靠窗，要么不订。
档案对所有人只读。
每次用完记得退出登录。
别让山羊进果园。
回答请尽量简短。
备件走海运，空运太贵。
除了我，谁也别碰温控器。
病人一说头晕就马上停药。
在我的额度内随便订。
请客之前要先问我太太。
家规不许在屋里抽烟。
每个箱子两面都要贴标签。
拨款只能用于差旅。
不要把沉默当同意。
以签字版为准，草稿作废。
孩子的照片不能上网站。
不下雨就送到后门。
面团要醒一夜。
术后我只能吃软的。
字幕必须和台词一致。
再也不要从那家进货。
信写给两位业主。
我授权你拆我的信。
房间最好朝花园。
没有号码显示的来电一律拒接。
唱诗班阁楼不对游客开放。
说好了先问我的。
务必关好大门。
这个绝不能转给董事会。
单子上有什么买什么，别多买。
推婴儿车的乘客先上。
""".strip().splitlines()

CHAT = """
I'd rather be at the beach right now!
You never know what you'll find at a flea market.
It has to be the best pizza I ever had.
We only met last summer.
She insists that she saw a fox.
My sister is a vegetarian chef at heart, isn't that cool?
I must have left my umbrella somewhere.
There's no place like home.
I had to wait forever at the bank.
He always brings me flowers.
That movie is a must, I loved it.
Make sure you have a great weekend!
We should catch up soon.
I should have known better.
You can say that again.
It needs a bit of love, but the garden is coming along.
I couldn't agree more.
Nothing ever happens in this town.
I will keep my fingers crossed for you.
Nobody told me it was your birthday.
Let me know how it goes!
We kept laughing until midnight.
My boss is never happy.
They allowed us to stay longer, which was nice.
Without you I would be lost.
It only took a minute.
I prefer tea, how about you?
Everyone had a blast.
It was forbidden love, like in the movies.
The kids must be so big by now.
That rule makes no sense to me.
I was supposed to be an engineer, but life happened.
I can't believe it's already over.
Keep me posted about the puppy.
If only I had more time.
My deadline at work went well, thanks for asking.
You may be right about that.
Do what makes you happy.
Please tell me more about your trip.
I try to stay positive.
这部电影不能更好看了。
我只是随便问问。
以前我总是迟到。
不用谢，应该的。
你要不要一起去？
昨天不得不加班到很晚。
只要你开心就好。
我记得那天下着雨。
他必须是今年最佳新人啊。
除了下雨，一切都好。
我一定会去看你的。
先这样吧，回头聊。
周末我一般都在家看书。
她从来不迟到，真厉害。
别提了，今天真倒霉。
I'd rather hear about your holiday first.
We never got around to painting the kitchen.
It must be lovely there in spring.
I always wanted to learn the cello.
Only my dog understands me.
I have to say, the soup was delicious.
There was no one at the party I knew.
Don't you just love the smell of rain?
She can't sing to save her life.
You should see the view from up here!
I was allowed to pet the tiger.
He required some convincing, but he came along.
I don't want to sound ungrateful, it was a nice gift.
It's important to have friends like you.
Whenever I hear that song I think of home.
My limit is two coffees, after that I can't sleep.
I'm supposed to be on a diet, but well.
The museum only opens on weekends, what a pity.
We needed a break from it all.
I avoided him the whole evening.
You'd better believe it!
The rule of thumb worked fine for us.
At least the weather was on our side.
It will be forbidden soon, they say.
Nothing to worry about, it went well.
I wouldn't miss it for the world.
Before I forget, happy birthday!
He never did call me back.
Could you tell me what that means?
I need a nap.
We will see each other when you are back.
No idea, honestly.
That would only make it worse, I think.
You must tell me all about it!
I really have to finish that book one day.
They always serve dinner late in Spain.
I keep forgetting her name.
If you like jazz you would have loved it.
Everybody needs a hobby.
Let's hope for the best.
他们家的面只能说一般。
我不太想出门，太冷了。
那时候大家都不敢说话。
没有你我真不知道怎么办。
我要是早点知道就好了。
昨晚一直下雨，没睡好。
你别说，还真挺好吃的。
这里禁止停车，害我绕了半天。
应该是他记错了吧。
不管怎么说，还是谢谢你。
我从小就不爱吃苦瓜。
我以为你们已经出发了。
最近总觉得时间不够用。
他每次都能逗我笑。
改天一起吃饭吧。
I never said that!
We always end up at the same bar.
You should have seen his face.
He only wanted to help.
There is nothing like a hot bath.
I need to tell you something funny.
No one was home when we got there.
It must be late over there.
I can't find my keys again.
They don't make cars like they used to.
My team has to win this time.
We were not allowed to swim.
She would rather read than dance.
If I were you, I would take a nap.
I'd love to see the northern lights.
Don't you remember my cousin?
That's the only song I can play.
Everyone has to start somewhere.
What a day, I could use a drink.
I wish I could join you.
It was always sunny when we were kids.
I prefer winter to summer, honestly.
You need to see this place!
Nobody understands my jokes.
Once I got lost in Venice.
我从来没去过海边。
他总是第一个到。
昨天一定很累吧？
我们只聊了几句。
别人都说我像妈妈。
我必须承认，我有点想家。
除了他，没人记得。
千万别说我老了，哈哈。
我先去洗个澡。
要是能放假就好了。
这孩子什么都要问。
不能再吃了，太饱了。
我一直想学吉他。
每次都是我洗碗。
他不让我看结局。
Grandma could only laugh when she saw it.
I was told to wait, so I waited.
We had no idea it would snow.
He refuses to grow up, bless him.
You can always count on rain in April.
It was the only open café in town.
I should call my mom more often.
I need new shoes, these are falling apart.
Nobody ever taught me how to swim.
They never told us why.
My sister has to get up early these days.
Don't ask me how I got here!
Before the show we grabbed a burger.
I guess I'm not allowed to be tired, ha.
The hotel was fine, but the food was out of this world.
She made sure everybody got cake.
If it rains we usually stay in.
There was a strict teacher I was afraid of.
I will always remember that summer.
I hope you never have to go through that.
My budget for shoes is embarrassing.
At my age you stop counting.
Could you imagine living there?
I'd better get going, talk soon.
What matters is that we tried.
奶奶年轻时可漂亮了。
我被堵在路上一个小时。
那家店只剩最后一个蛋糕。
谁都没想到会下雪。
他不肯长大，真拿他没办法。
我该多给妈妈打打电话了。
你猜我今天遇到谁了？
小时候老师特别严格。
我永远记得那个夏天。
吃完饭我们去江边走了走。
这么说也不是没有道理。
我得走了，下次聊。
要是我，我也会生气。
他必须赶最后一班车。
早知道就不来了。
My landlord is such a nice man.
The choir sang until we all cried.
I never leave the house without music.
You can only imagine how happy we were.
It was required reading at school.
We must be the oldest couple in the building.
If I had a car I would drive up to see you.
I always take the scenic route.
Nobody gets my sense of humour.
I have to admit, I cried.
They only opened last month.
It might rain, but who cares.
My neighbour is never home.
All of us should be so lucky.
I need coffee, badly.
The rules of cricket are beyond me.
There's no rush, I'm enjoying this.
She told me to stop worrying.
Let me tell you what happened next.
What would you do in my place?
I can't tell you how proud I am.
I used to be strict with myself.
Make yourself at home!
Please say hi to your mom.
The limit of my patience is near, haha.
我们房东人特别好。
合唱团唱得大家都哭了。
没有音乐我出不了门。
你可以想象我们有多高兴。
上学的时候这本书是必读的。
我们肯定是楼里最老的一对。
要是有车我就开去看你了。
我每次都走风景好的那条路。
没人懂我的幽默。
我承认，我哭了。
可能会下雨，管他呢。
邻居从来不在家。
我急需一杯咖啡。
板球的规则我搞不懂。
替我向你妈妈问好。
The horses were so calm today.
I walked twice around the lake.
My wife always beats me at chess.
I would feel better after a nap, I guess.
No swearing can describe that traffic jam.
We paid way too much for dinner.
The lights went out during the storm.
Only one of us brought an umbrella.
I never get used to early mornings.
My hearing is not what it was.
That fits perfectly, thank you!
You must be so excited about the baby.
I think she should apologise.
If only it were Friday.
It has been a long week.
We can always go next year.
Don't get me started on parking.
Who else loves karaoke?
I had to laugh when I read that.
Please, tell me you're joking!
今天马儿都很乖。
我们晚饭花太多钱了。
暴风雨的时候停电了。
我们几个只有一把伞。
我一直不习惯早起。
你一定很期待宝宝出生吧。
要是今天是周五就好了。
这周过得真慢。
明年再去也行。
你不会是在开玩笑吧！
The goats ate my hat, can you believe it?
I was grateful for the lift home.
No one saw it coming.
If I feel dizzy I just sit down.
My wife asked me to dance.
We should do that every year.
The show never gets boring.
I left the door open again, silly me.
The dough was a disaster.
After the operation I slept for two days.
Only the cat was unimpressed.
You have no idea how good it tasted.
Whatever, it was fun.
The march went on for hours.
I would have done the same.
That must hurt!
They allow dogs in that bar, how nice.
It's never too late to learn.
Must be nice to live by the sea.
I always forget birthdays.
山羊把我的帽子吃了。
我坐下来歇了一会儿就好了。
我们每年都应该聚一次。
我又忘了关门。
做完手术我睡了两天。
你不知道有多好吃。
换了我也会这么做。
学习永远不晚。
住在海边一定很棒。
我老是忘记别人的生日。
""".strip().splitlines()

UNSEEN_EN = """
The wedding list is secret, so talk to no one about it.
I'd like the aisle seat if there is one.
Patients are never to be addressed by their first names.
Bring the contract to me before anybody signs.
It isn't your place to comment on the verdict.
My limit for the painting is what we agreed in spring.
Should the customer insist, offer a voucher, not cash.
Spare no effort on the index.
The shop may open early but must close on time.
Please avoid the word "cheap".
Everything in the blue folder is privileged.
You shouldn't reply to trolls.
Keep both doors locked while the kids are here.
No substitutions without the chef's consent.
Only metric screws fit, so don't buy others.
I need the tone to be warmer in every letter.
The rent is due on the first, don't miss it.
We want nothing with palm oil.
Back up the photos prior to each update.
Under these terms, reselling is not permitted.
If you can't reach me, try my sister, nobody else.
The tour must not exceed the budget.
Please make do with the old printer.
The kitchen is off limits after midnight.
""".strip().splitlines()

UNSEEN_ZH = """
婚礼名单保密，跟谁都别提。
如果有靠过道的座位，我要靠过道的。
对病人一律不直呼其名。
签字之前先把合同拿给我看。
你无权评论判决。
客户坚持的话，给代金券，不给现金。
店可以早开，但必须准时关。
请避免使用“便宜”这个词。
蓝色文件夹里的内容都属机密。
不要理会喷子。
孩子在的时候两扇门都锁好。
没有主厨同意不得换菜。
只能用公制螺丝。
每封信的语气都要再温和些。
房租一号到期，别错过。
含棕榈油的一概不要。
每次更新前备份照片。
按条款规定，不允许转售。
联系不上我就找我姐，别找别人。
先凑合用旧打印机。
厨房半夜以后不准进。
""".strip().splitlines()

UNSEEN_CHAT = """
The wedding was so much fun.
I signed the contract yesterday, finally.
She never calls me by my first name.
The shop opened early today.
I avoid mirrors before coffee.
My rent went up again.
You shouldn't have, what a lovely gift!
The kids locked themselves in.
We tried the new chef's menu.
I can't reach the top shelf.
My sister must have told you.
The kitchen smells amazing.
Nobody else laughed.
I want to see the sea again.
Until next time!
婚礼特别热闹。
我昨天终于签了合同。
她从来不叫我小名。
房租又涨了。
厨房好香啊。
我姐肯定告诉你了。
下次再见！
""".strip().splitlines()
